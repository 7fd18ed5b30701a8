import Foundation
import Switchboard

/// A body that can be read once. It is streamed, so that nothing encodes it before it is sent.
package struct OneShotBody: HTTPBody {
    package init() {}

    package var isStreamed: Bool { true }
    package var isReplayable: Bool { false }
    package func encode() throws -> Data { Data("once".utf8) }
}
