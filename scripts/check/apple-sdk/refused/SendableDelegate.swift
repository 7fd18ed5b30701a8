// The delegates of URLSession are Sendable.
import Foundation

final class Delegate: NSObject, URLSessionDelegate {
    var count = 0  // expected-error {{stored property 'count' of 'Sendable'-conforming class 'Delegate' is mutable}}
}
