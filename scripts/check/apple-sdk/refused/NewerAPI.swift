// The protocol's method `next(isolation:)` and `Mutex` exist since macOS 15, iOS 18, tvOS 18, watchOS 11 and visionOS 2.
import Synchronization

func first(_ stream: AsyncStream<Int>) async -> Int? {
    var iterator = stream.makeAsyncIterator()
    return await iterator.next(isolation: nil)  // expected-error {{'next(isolation:)' is only available in}}
    // expected-note@-1 {{add 'if #available' version check}}
    // expected-note@-4 {{add '@available' attribute to enclosing global function}}
}

func zero() -> Int {
    let number = Mutex(0)  // expected-error {{'Mutex' is only available in}} expected-error {{'init(_:)' is only available in}}
    // expected-note@-1 2 {{add 'if #available' version check}}
    // expected-note@-3 3 {{add '@available' attribute to enclosing global function}}
    return number.withLock { $0 }  // expected-error {{'withLock' is only available in}} expected-note {{add 'if #available'}}
}
