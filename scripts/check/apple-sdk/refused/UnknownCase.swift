// Apple may add cases to the enums of its frameworks.
import Foundation

func isText(_ message: URLSessionWebSocketTask.Message) -> Bool {
    switch message {  // expected-error {{switch covers known cases, but 'URLSessionWebSocketTask.Message' may have additional unknown values}}
    // expected-note@-1 {{handle unknown values using "@unknown default"}}
    case .data: false
    case .string: true
    }
}
