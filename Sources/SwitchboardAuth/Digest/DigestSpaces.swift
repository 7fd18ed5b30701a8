import SwitchboardPlatform
import Foundation
import Switchboard

/// The answered challenges, one for each origin and partition, so that later requests carry an answer at once.
final class DigestSpaces: Sendable {
    private struct Space {
        var challenge: DigestChallenge
        var clientNonce: String
        var count: UInt32 = 0
    }

    /// The largest number of challenges, so that servers cannot fill the memory.
    private static let limit = 256
    private let spaces = Protected<[OriginKey: Space]>([:])
    private let makeNonce: @Sendable () -> String

    init(_ makeNonce: @escaping @Sendable () -> String) {
        self.makeNonce = makeNonce
    }

    /// Stores a challenge. A new nonce starts with the first count. A known nonce keeps its count, because a server may
    /// accept each count only once (RFC 7616 §3.4).
    func note(_ challenge: DigestChallenge, for key: OriginKey) {
        let space = Space(challenge: challenge, clientNonce: makeNonce())
        spaces.withLock { spaces in
            if spaces[key]?.challenge.nonce == challenge.nonce {
                spaces[key]?.challenge = challenge
                return
            }
            if spaces.count >= Self.limit, spaces[key] == nil { spaces.removeAll() }
            spaces[key] = space
        }
    }

    /// Returns the next answer for an origin, or nil without a challenge.
    func next(for key: OriginKey) -> DigestAnswer? {
        spaces.withLock { spaces in
            guard var space = spaces[key], space.count < .max else { return nil }
            space.count += 1
            spaces[key] = space
            return DigestAnswer(challenge: space.challenge, clientNonce: space.clientNonce, count: space.count)
        }
    }

    /// Stores the nonce that the server named for later requests (RFC 7616 §3.5).
    func goOn(with nonce: String, after answer: DigestAnswer, for key: OriginKey) {
        let clientNonce = makeNonce()
        spaces.withLock { spaces in
            guard var space = spaces[key], space.challenge.nonce == answer.challenge.nonce,
                nonce != space.challenge.nonce
            else { return }
            space.challenge.nonce = nonce
            (space.clientNonce, space.count) = (clientNonce, 0)
            spaces[key] = space
        }
    }

    /// Removes a challenge whose answer was refused.
    func forget(_ answer: DigestAnswer, for key: OriginKey) {
        spaces.withLock { if $0[key]?.challenge.nonce == answer.challenge.nonce { $0[key] = nil } }
    }

    func removeAll() {
        spaces.withLock { $0 = [:] }
    }
}
