// URLSession would never call a method whose signature differs from the optional requirement.
import Foundation

final class Delegate: NSObject {}

extension Delegate: URLSessionDataDelegate {
    func urlSession(  // expected-error {{nearly matches defaulted requirement}}
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: HTTPURLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {}
    // expected-note@-4 {{move 'urlSession(_:dataTask:didReceive:completionHandler:)' to another extension}}
    // expected-note@-5 {{make 'urlSession(_:dataTask:didReceive:completionHandler:)' private}}
    // expected-note@-6 {{candidate has non-matching type}}
}
