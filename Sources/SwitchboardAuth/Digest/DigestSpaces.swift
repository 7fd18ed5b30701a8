import SwitchboardPlatform
import Foundation
import Switchboard

/// The challenges that were answered, so that later requests answer them at once: one for each origin and partition.
final class DigestSpaces: Sendable {
    private struct Space {
        var challenge: DigestChallenge
        var clientNonce: String
        var count: UInt32 = 0
    }

    /// Servers must not fill the memory.
    private static let limit = 256
    private let spaces = Protected<[OriginKey: Space]>([:])
    private let makeNonce: @Sendable () -> String

    init(_ makeNonce: @escaping @Sendable () -> String) {
        self.makeNonce = makeNonce
    }

    /// Notes a challenge, to be answered from the first count on; a nonce that is known already is counted on, since a
    /// server may take each count once (RFC 7616 §3.4).
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

    /// The next answer for this space; nil without a challenge.
    func next(for key: OriginKey) -> DigestAnswer? {
        spaces.withLock { spaces in
            guard var space = spaces[key], space.count < .max else { return nil }
            space.count += 1
            spaces[key] = space
            return DigestAnswer(challenge: space.challenge, clientNonce: space.clientNonce, count: space.count)
        }
    }

    /// The server names the nonce to go on with (RFC 7616 §3.5).
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

    /// Forgets a challenge whose answer was refused.
    func forget(_ answer: DigestAnswer, for key: OriginKey) {
        spaces.withLock { if $0[key]?.challenge.nonce == answer.challenge.nonce { $0[key] = nil } }
    }

    func removeAll() {
        spaces.withLock { $0 = [:] }
    }
}
