import Dispatch
import Foundation
import Switchboard
import SwitchboardHAR
import SwitchboardMocks
import SwitchboardPlatform
import SwitchboardText

/// The last calls of an app, oldest first. Their threads record events, and the threads of the inspector's server read.
final class CallStore: Sendable {
    /// A call, guarded by the lock of the store.
    fileprivate final class Stored: @unchecked Sendable {
        let id: NetworkRequest.ID
        var call: InspectedCall

        init(_ id: NetworkRequest.ID, _ call: InspectedCall) {
            self.id = id
            self.call = call
        }
    }

    fileprivate struct State {
        /// The calls from `first`, with the removed ones before `head` as nil.
        var calls: [Stored?] = []
        var head = 0
        /// The numbers of the oldest call and of the next one.
        var first = 1
        var next: Int { first + calls.count - head }
        /// The numbers of the running calls and of WebSockets.
        var running: [NetworkRequest.ID: Int] = [:]
        /// The calls with requests, responses or messages whose secrets are unknown.
        var unsearched: Set<Int> = []
        /// The number of calls that contain each secret.
        var secrets: [ExactText: Int] = [:]
        /// The number of changes of the secrets, and the search for them. Nil when they have changed.
        var secretsChange = 0
        var trie: SecretTrie?
        var size = 0
        /// The number of changes so far, and the numbers of the calls that changed last. The call of change `n` is at the
        /// index `n % recent.count`.
        var change = 0
        var recent = [Int](repeating: 0, count: CallStore.batch)
        /// The number of times that all calls were removed.
        var clearings = 0
        var isStopped = false
        /// Wakes the readers that wait for a change.
        var waiting: [StopSignal] = []

        subscript(number: Int) -> Stored? {
            first..<next ~= number ? calls[number - first + head] : nil
        }
    }

    let limits: CallLimits
    /// The names of secrets, with a mask that is valid in URLs.
    let redaction: Redaction
    private let state = Protected(State())
    /// Masks one call at a time, so that a reader waits for the secrets that another one finds.
    private let masking = DispatchQueue(label: "NetworkInspector")

    init(_ limits: CallLimits) {
        self.limits = limits
        redaction = ExchangeMasking(limits.redaction).redaction
    }

    // MARK: Recording

    /// Adds an event to its call. Runs on the call's thread.
    func record(_ event: CallEvent) {
        // Made before the lock is taken, and released after it.
        let update = CallUpdate(event, limits)
        let id = event.request.id
        let new = update.isFirst ? Stored(id, InspectedCall(event, limits)) : nil
        change(id, adding: new, hasSecrets: update.hasSecrets) { $0.apply(update, limits) }
    }

    /// Adds a message to its call. Runs on the thread that sends or receives it.
    func record(_ message: CallMessage, of id: NetworkRequest.ID) {
        change(id, hasSecrets: true) { $0.add(message, limits) }
    }

    private func change(
        _ id: NetworkRequest.ID, adding new: Stored? = nil, hasSecrets: Bool, _ change: (inout InspectedCall) -> Void
    ) {
        let (removed, waiting) = state.withLock { state -> ([Stored?], [StopSignal]) in
            guard !state.isStopped else { return ([], []) }
            if let new { state.add(new) }
            guard let number = state.running[id], let stored = state[number] else { return ([], []) }
            state.addChange(of: number)
            let size = stored.call.size
            change(&stored.call)
            stored.call.change = state.change
            state.size += stored.call.size - (new == nil ? size : 0)
            if !stored.call.expectsMore { state.running[id] = nil }
            if hasSecrets { state.unsearched.insert(number) }
            return (state.removeOldest(limits), state.takeWaiting())
        }
        for signal in waiting { signal.fire() }
        withExtendedLifetime(removed) {}
    }

    /// Removes all calls, running ones included.
    func removeAll(isStopping: Bool = false) {
        let (old, waiting) = state.withLock { state in
            let old = state
            state = State()
            state.first = old.next
            (state.change, state.clearings) = (old.change + 1, old.clearings + 1)
            state.isStopped = old.isStopped || isStopping
            return (old, old.waiting)
        }
        for signal in waiting { signal.fire() }
        withExtendedLifetime(old) {}
    }

    // MARK: Reading

    subscript(number: Int) -> InspectedCall? {
        state.withLock { $0[number]?.call }
    }

    /// All calls, oldest first.
    var all: [InspectedCall] {
        state.withLock { state in state.calls[state.head...].compactMap { $0?.call } }
    }

    /// The position of a reader among the changes.
    struct Position {
        fileprivate var clearings = -1
        /// The reader has all changes up to this one.
        fileprivate var change = 0
        /// The sweep through the calls that has begun: the next call, and the last change before the sweep.
        fileprivate var sweep: (next: Int, change: Int)?
        /// The numbers of the calls that the reader has: from the oldest to the newest.
        fileprivate var first = 1
        fileprivate var last = 0
    }

    /// The changes since a position.
    struct Changes {
        var isReset = false
        /// The numbers of calls that were removed for the limits.
        var removed = 0..<0
        /// The new and the changed calls, in the order of their numbers.
        var calls: [InspectedCall] = []

        var isEmpty: Bool { !isReset && removed.isEmpty && calls.isEmpty }
    }

    /// The number of calls that one lock may copy.
    fileprivate static let batch = 64

    /// Returns the next changes, and advances the position past them. Each call is among them once, however often it
    /// changed.
    func changes(after position: inout Position) -> Changes {
        state.withLock { state in
            var changes = Changes()
            if position.clearings != state.clearings {
                position = Position()
                (position.clearings, position.first, position.last) = (state.clearings, state.first, state.first - 1)
                changes.isReset = true
            } else if position.first < state.first {
                changes.removed = position.first..<max(position.first, min(state.first, position.last + 1))
                position.first = state.first
            }
            guard position.sweep != nil || position.change < state.change else { return changes }
            if position.sweep == nil, state.change - position.change <= Self.batch {
                // A reader that is nearly current needs no sweep.
                let numbers = Set((position.change + 1...state.change).map { state.recent[$0 % Self.batch] })
                changes.calls = numbers.sorted().compactMap { state[$0]?.call }
                position.last = max(position.last, state.next - 1)
                position.change = state.change
                return changes
            }
            let change = position.sweep?.change ?? state.change
            var next = max(position.sweep?.next ?? 0, state.first)
            while next < state.next, changes.calls.count < Self.batch {
                if let call = state[next]?.call, call.change > position.change { changes.calls.append(call) }
                next += 1
            }
            position.last = max(position.last, next - 1)
            if next < state.next {
                position.sweep = (next, change)
            } else {
                (position.sweep, position.change) = (nil, change)
            }
            return changes
        }
    }

    /// Fires the signal at the next change. Returns false if the reader lacks a change already, or after the end.
    func wake(_ signal: StopSignal, after position: Position) -> Bool {
        state.withLock { state in
            guard !state.isStopped, position.sweep == nil, position.change == state.change else { return false }
            state.waiting.append(signal)
            return true
        }
    }

    /// Does not fire the signal any more.
    func forget(_ signal: StopSignal) {
        state.withLock { state in state.waiting.removeAll { $0 === signal } }
    }

    // MARK: Secrets

    /// Finds the secrets of all calls, masks their exchanges that have ended, and returns the search for the secrets.
    func knownSecrets() -> SecretTrie {
        masking.sync {
            // Excludes calls that are recorded meanwhile, so that a busy app does not delay the reader.
            var rest = state.withLock { Array($0.unsearched) }[...]
            while let (number, call) = takeUnsearched(&rest) {
                var secrets: Set<ExactText> = []
                var masked: [Int: HAR.Entry] = [:]
                if !call.isRequestSearched {
                    var masking = ExchangeMasking(call.request.redaction)
                    _ = masking.masked(call.request.entry)
                    secrets = masking.secrets
                }
                for exchange in call.exchanges {
                    guard case .raw(let request, let response) = exchange.content else { continue }
                    var masking = ExchangeMasking(request.redaction)
                    let entry = masking.masked(exchange.entry(request, response, call.started))
                    if exchange.end != nil { masked[exchange.number] = entry }
                    secrets.formUnion(masking.secrets)
                }
                if call.secrets.count < limits.secrets {
                    var masking = ExchangeMasking(call.request.redaction)
                    for message in call.messages.suffix(call.messageCount - call.searchedMessages) {
                        _ = masking.masked(body: message.parts.content, type: "")
                    }
                    secrets.formUnion(masking.secrets)
                }
                let count = call.messageCount
                let old = state.withLock {
                    ($0.replace(masked, secrets, count, in: number), $0.removeOldest(limits))
                }
                withExtendedLifetime(old) {}
            }
            let (trie, secrets, change) = state.withLock { ($0.trie, $0.secrets, $0.secretsChange) }
            if let trie { return trie }
            var masking = ExchangeMasking(redaction)
            for secret in secrets.keys { masking.add(secret.text) }
            let made = masking.storedSecrets
            state.withLock { if $0.secretsChange == change { $0.trie = made } }
            return made
        }
    }

    /// Returns the next of these calls whose secrets are unknown.
    private func takeUnsearched(_ numbers: inout ArraySlice<Int>) -> (number: Int, call: InspectedCall)? {
        state.withLock { state in
            while let number = numbers.popFirst() {
                guard state.unsearched.remove(number) != nil else { continue }
                if let call = state[number]?.call { return (number, call) }
            }
            return nil
        }
    }
}

extension CallStore.State {
    fileprivate mutating func add(_ stored: CallStore.Stored) {
        stored.call.number = next
        running[stored.id] = next
        calls.append(stored)
    }

    fileprivate mutating func addChange(of number: Int) {
        change += 1
        recent[change % recent.count] = number
    }

    /// Removes the oldest calls until the limits hold, and returns them.
    fileprivate mutating func removeOldest(_ limits: CallLimits) -> [CallStore.Stored?] {
        var removed: [CallStore.Stored?] = []
        while first < next, next - first > limits.calls || size > limits.totalSize {
            guard let stored = calls[head] else { break }
            removed.append(stored)
            calls[head] = nil
            size -= stored.call.size
            unsearched.remove(first)
            if running[stored.id] == first { running[stored.id] = nil }
            for secret in stored.call.secrets { drop(secret) }
            head += 1
            first += 1
        }
        if head > 64, head * 2 > calls.count {
            calls.removeFirst(head)
            head = 0
        }
        return removed
    }

    private mutating func drop(_ secret: ExactText) {
        guard let count = secrets[secret] else { return }
        if count == 1 {
            secrets[secret] = nil
            size -= Self.cost(of: secret)
            (trie, secretsChange) = (nil, secretsChange + 1)
        } else {
            secrets[secret] = count - 1
        }
    }

    /// Returns the bytes that the search for a secret occupies, roughly: a node for each character, also of the secret in
    /// base64.
    private static func cost(of secret: ExactText) -> Int { 512 * secret.text.utf8.count }

    /// Replaces exchanges by masked ones, and returns the former ones.
    fileprivate mutating func replace(
        _ masked: [Int: HAR.Entry], _ found: Set<ExactText>, _ searchedMessages: Int, in number: Int
    ) -> [InspectedExchange] {
        guard let stored = self[number] else { return [] }
        stored.call.isRequestSearched = true
        stored.call.searchedMessages = searchedMessages
        let raw = stored.call.exchanges
        for index in raw.indices {
            guard let entry = masked[raw[index].number] else { continue }
            stored.call.exchanges[index].content = .masked(entry)
        }
        for secret in found where stored.call.secrets.insert(secret).inserted {
            if secrets[secret] == nil {
                (trie, secretsChange) = (nil, secretsChange + 1)
                size += Self.cost(of: secret)
            }
            secrets[secret, default: 0] += 1
        }
        return raw
    }

    fileprivate mutating func takeWaiting() -> [StopSignal] {
        guard !waiting.isEmpty else { return [] }
        defer { waiting = [] }
        return waiting
    }
}
