import Foundation
import SwitchboardHAR
import SwitchboardMocks
import SwitchboardPlatform
import SwitchboardTestSupport
import Testing

@testable import Switchboard
@testable import SwitchboardInspector

/// The bounds of the stored calls, and the changes that a reader gets.
@Suite(.timeLimit(.minutes(10)))
struct CallStoreTests {
    /// A call whose events a test makes.
    private struct Call {
        let store: CallStore
        let request: NetworkRequest

        init(_ store: CallStore, body: Data = Data(), _ path: String = "a") {
            self.store = store
            var request = NetworkRequest(.post, URL(string: "https://api.example.com/\(path)"))
            if !body.isEmpty { request.body = DataBody(body) }
            self.request = request
            add(.started)
        }

        func add(_ kind: CallEvent.Kind) {
            store.record(CallEvent(kind: kind, request: request, elapsed: .milliseconds(1)))
        }

        func exchange(_ response: NetworkResponse, number: Int = 1) {
            add(.exchangeStarted(number: number))
            let record = ExchangeRecord(
                number: number, request: request, cause: nil, start: .zero, duration: .milliseconds(1),
                outcome: .status(response.statusCode), measured: nil)
            add(.exchangeEnded(record, response: response))
        }
    }

    /// Returns the changes of a reader until there are none.
    private func read(_ store: CallStore, _ position: inout CallStore.Position) -> [CallStore.Changes] {
        var all: [CallStore.Changes] = []
        while true {
            let changes = store.changes(after: &position)
            if changes.isEmpty { return all }
            all.append(changes)
        }
    }

    @Test("of 10,000 calls the last ones are stored, oldest first")
    func number() {
        let store = CallStore(CallLimits(calls: 100))
        for _ in 0..<10_000 { Call(store).add(.finished(statusCode: 200)) }
        #expect(store.all.map(\.number) == Array(9_901...10_000))
        #expect(store[9_900] == nil && store[9_901] != nil && store[10_001] == nil && store[0] == nil)
    }

    @Test("the bodies of all calls together have a limit")
    func totalSize() throws {
        var limits = CallLimits()
        limits.totalSize = 300_000
        let store = CallStore(limits)
        for index in 0..<1_000 {
            let call = Call(store, body: Data(count: 10_000), "\(index)")
            call.exchange(NetworkResponse(statusCode: 200, body: Data(count: 10_000)))
            call.add(.finished(statusCode: 200))
        }
        // The bodies of the call, its exchange and the response, and 2 KiB for the rest.
        #expect(store.all.map(\.number) == Array(992...1_000))
        #expect(store.all.reduce(0) { $0 + $1.size } <= 300_000)
    }

    @Test("one endless call does not exceed its limits, and its end is stored")
    func endlessCall() throws {
        var limits = CallLimits()
        (limits.steps, limits.exchanges) = (50, 10)
        let store = CallStore(limits)
        let call = Call(store)
        for number in 1...1_000 {
            call.exchange(NetworkResponse(statusCode: 503), number: number)
            call.add(.retry(after: .zero, because: "HTTP 503"))
        }
        call.add(.finished(statusCode: 200))
        let stored = try #require(store[1])
        #expect(stored.steps.count == 51 && stored.exchanges.count == 10)
        #expect(stored.exchangeCount == 1_000 && stored.attempts == 1_001)
        #expect(stored.state == .finished && stored.steps.last?.kind == "finished")
    }

    @Test("the search for secrets counts among the stored bytes")
    func secretsOfResponses() {
        var limits = CallLimits()
        limits.totalSize = 1 << 20
        let store = CallStore(limits)
        let rest = String(repeating: "x", count: 990)
        for index in 0..<100 {
            Call(store).exchange(NetworkResponse(statusCode: 200, body: Data(#"{"token":"\#(index)\#(rest)"}"#.utf8)))
            _ = store.knownSecrets()
        }
        #expect(store.all.map(\.number) == [99, 100])
    }

    @Test("the last messages of a call are stored, within their limits")
    func messages() throws {
        var limits = CallLimits(bodySize: 1_000)
        (limits.messages, limits.messageSize) = (100, 20_000)
        let store = CallStore(limits)
        let id = Call(store, "live").request.id
        for index in 1...1_000 {
            store.record(CallMessage(.text, isSent: false, Data("\(index)".utf8)), of: id)
            #expect(try #require(store[1]).messages.count <= 100)
        }
        var call = try #require(store[1])
        #expect(call.messageCount == 1_000 && call.messages.count > 90)
        #expect(call.messages.last?.payload == Data("1000".utf8))
        for _ in 0..<100 { store.record(CallMessage(.binary, isSent: true, Data(count: 5_000)), of: id) }
        call = try #require(store[1])
        #expect(call.messages.last?.size == 5_000 && call.messages.last?.payload == Data(count: 1_000))
        let size = call.messages.reduce(0) { $0 + $1.payload.count }
        #expect((10_000...20_000).contains(size) && call.size > size, "\(size)")
    }

    @Test("a stored message keeps no more memory than its payload")
    func releasedMessage() throws {
        let isReleased = Protected(false)
        let store = CallStore(CallLimits(bodySize: 1_000))
        let id = Call(store, "live").request.id
        do {
            let bytes = UnsafeMutableRawPointer.allocate(byteCount: 1 << 20, alignment: 1)
            bytes.initializeMemory(as: UInt8.self, repeating: 1, count: 1 << 20)
            let payload = Data(
                bytesNoCopy: bytes, count: 1 << 20,
                deallocator: .custom { bytes, _ in
                    bytes.deallocate()
                    isReleased.withLock { $0 = true }
                })
            store.record(CallMessage(.binary, isSent: false, payload), of: id)
        }
        #expect(isReleased.value)
        let message = try #require(store[1]?.messages.last)
        #expect(message.size == 1 << 20 && message.payload == Data(repeating: 1, count: 1_000))
    }

    @Test("a message keeps its number when older ones are removed")
    func messageNumbers() throws {
        let inspector = try NetworkInspector(CallLimits())
        let store = try #require(inspector.server?.calls)
        let id = Call(store, "live").request.id
        for index in 1...1_001 { store.record(CallMessage(.text, isSent: false, Data("\(index)".utf8)), of: id) }
        let messages = try Page(inspector).detail(1).list("messages")
        #expect(messages.count < 1_000 && messages.last?.number("number") == 1_001)
        #expect(messages.allSatisfy { $0.number("number").map { "\(Int($0))" } == $0.text("text") })
    }

    @Test("messages with ever new secrets remove no other call")
    func secretsOfMessages() throws {
        let store = CallStore(CallLimits())
        Call(store).add(.finished(statusCode: 200))
        let call = Call(store, "live")
        for index in 0..<10_000 {
            let text = #"{"token":"\#(index) is a secret of 40 bytes and more, at least"}"#
            store.record(CallMessage(.text, isSent: false, Data(text.utf8)), of: call.request.id)
            if index % 50 == 0 { _ = store.knownSecrets() }
        }
        #expect(store.all.map(\.number) == [1, 2])
        #expect(store.knownSecrets().masked("0 is a secret of 40 bytes and more, at least") == "REDACTED")
    }

    @Test("a call above the total limit is removed, and its later events ignored")
    func largeCall() {
        var limits = CallLimits()
        limits.totalSize = 10_000
        let store = CallStore(limits)
        let call = Call(store, body: Data(count: 20_000))
        #expect(store.all.isEmpty)
        call.add(.finished(statusCode: 200))
        #expect(store.all.isEmpty)
        _ = Call(store)
        #expect(store.all.map(\.number) == [2])
    }

    @Test("a body above the limit is stored as its size")
    func bodySize() throws {
        let store = CallStore(CallLimits(bodySize: 1_024))
        let call = Call(store, body: Data(count: 1_025))
        call.exchange(NetworkResponse(statusCode: 200, body: Data(count: 1_025)))
        let masking = TextMasking(store)
        let exchange = try #require(store[1]?.exchanges.first)
        let entry = masking.entry(exchange, of: try #require(store[1]))
        #expect(entry.request.postData == nil && entry.request.bodySize == 1_025)
        #expect(entry.response.content.text == nil && entry.response.content.size == 1_025)
        #expect(exchange.end?.omittedBody == "larger than 1 KiB")
    }

    @Test("a reader gets each call once and in order, with its last state")
    func merging() {
        let store = CallStore(CallLimits())
        var position = CallStore.Position()
        #expect(read(store, &position).map(\.isReset) == [true])
        let calls = (0..<3).map { Call(store, "\($0)") }
        for _ in 0..<100 { calls[2].add(.note("again")) }
        calls[1].add(.finished(statusCode: 200))
        calls[0].add(.cancelled)
        let changes = read(store, &position)
        #expect(changes.count == 1)
        #expect(changes[0].calls.map(\.number) == [1, 2, 3])
        #expect(changes[0].calls.map(\.state) == [.cancelled, .finished, .running])
        calls[2].add(.finished(statusCode: 204))
        #expect(read(store, &position).map { $0.calls.map(\.number) } == [[3]])
        #expect(read(store, &position).isEmpty)
        let others = (0..<2).map { _ in Call(store) }
        for call in [others[1], others[0], others[1]] { call.add(.note("again")) }
        #expect(read(store, &position).map { $0.calls.map(\.number) } == [[4, 5]])
        for _ in 0..<100 { others[0].add(.note("often")) }
        #expect(read(store, &position).map { $0.calls.map(\.number) } == [[4]])
    }

    @Test("a slow reader gets the stored calls and the numbers of removed ones")
    func slowReader() {
        let store = CallStore(CallLimits(calls: 500))
        var position = CallStore.Position()
        for _ in 0..<500 { Call(store).add(.finished(statusCode: 200)) }
        var known = Set(read(store, &position).flatMap { $0.calls.map(\.number) })
        #expect(known == Set(1...500))
        for _ in 0..<100_000 { Call(store).add(.finished(statusCode: 200)) }
        let changes = read(store, &position)
        #expect(changes.reduce(0) { $0 + $1.removed.count } == 500)
        #expect(changes.allSatisfy { $0.calls.count <= 200 })
        for change in changes {
            known.subtract(change.removed)
            known.formUnion(change.calls.map(\.number))
        }
        #expect(known == Set(100_001...100_500))
    }

    @Test("a change amid a sweep through many calls reaches the reader")
    func sweep() {
        let store = CallStore(CallLimits())
        let calls = (0..<500).map { Call(store, "\($0)") }
        var position = CallStore.Position()
        var states: [Int: InspectedCall.State] = [:]
        for call in store.changes(after: &position).calls { states[call.number] = call.state }
        calls[0].add(.finished(statusCode: 200))
        calls[499].add(.cancelled)
        for call in read(store, &position).flatMap(\.calls) { states[call.number] = call.state }
        #expect(states.count == 500 && states[1] == .finished && states[500] == .cancelled && states[2] == .running)
    }

    @Test("a reader learns that all calls were removed")
    func clearing() {
        let store = CallStore(CallLimits())
        var position = CallStore.Position()
        let old = Call(store)
        _ = read(store, &position)
        store.removeAll()
        old.add(.finished(statusCode: 200))
        #expect(store.all.isEmpty)
        _ = Call(store)
        let changes = read(store, &position)
        #expect(changes.first?.isReset == true)
        #expect(changes.flatMap(\.calls).map(\.number) == [2])
    }

    @Test("the next change wakes a waiting reader, and a late one does not wait")
    func waking() throws {
        let store = CallStore(CallLimits())
        let signal = try StopSignal()
        var position = CallStore.Position()
        _ = read(store, &position)
        #expect(store.wake(signal, after: position))
        _ = Call(store)
        let (listener, _) = try Socket.listening()
        #expect(listener.wait(for: .readable, stop: signal) == .stopped)
        #expect(!store.wake(signal, after: position))
        store.removeAll(isStopping: true)
        _ = read(store, &position)
        #expect(!store.wake(signal, after: position))
    }
}
