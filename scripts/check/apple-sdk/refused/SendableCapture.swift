// The completion handlers of URLSession are @Sendable.
import Foundation

final class Counter {  // expected-note {{class 'Counter' does not conform to the 'Sendable' protocol}}
    var count = 0
}

func count(_ session: URLSession, _ url: URL, _ counter: Counter) -> URLSessionDataTask {
    session.dataTask(with: url) { _, _, _ in
        counter.count += 1  // expected-error {{capture of 'counter' with non-Sendable type 'Counter' in a '@Sendable' closure}}
    }
}
