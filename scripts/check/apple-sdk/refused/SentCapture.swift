// The sending of values between regions is diagnosed in SIL, the last stage.
import Foundation

final class Counter {
    var count = 0
}

func count(_ session: URLSession, _ url: URL) {
    let counter = Counter()
    Task { counter.count += 1 }  // expected-error {{sending value of non-Sendable type '() async -> ()' risks causing data races}}
    // expected-note@-1 {{Passing value of non-Sendable type '() async -> ()' as a 'sending' argument}}
    counter.count += 1  // expected-note {{access can happen concurrently}}
}
