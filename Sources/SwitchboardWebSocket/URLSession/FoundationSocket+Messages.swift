import Foundation
import SwitchboardPlatform

/// The messages and control frames of an open socket.
extension FoundationSocket {
    // MARK: Receiving

    /// Returns the next event, or nil when the connection ended. Only one reader at a time.
    func next() async throws -> SocketEvent? {
        while true {
            switch state.withLock({ $0.step() }) {
            case .event(let event): return event
            case .end(let end):
                try end.get()
                return nil
            case .receive(let task):
                task.receive { [self] in didReceive($0) }
                deadlines.add(self)
            case .wait: await wait()
            }
        }
    }

    private func wait() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isReady = state.withLock { state in
                    guard case .wait = state.step(isDry: true) else { return true }
                    state.reader = continuation
                    return false
                }
                if isReady { continuation.resume() }
            }
        } onCancel: {
            cancel()
        }
    }

    private func didReceive(_ result: Result<SocketEvent, any Error>) {
        switch result {
        case .success(let event): add(event, isReceived: true)
        case .failure(let error):
            if (error as? POSIXError)?.code == .EMSGSIZE { add(.oversized) }
            note { $0.failure = $0.failure ?? error }
        }
    }

    private func add(_ event: SocketEvent, isReceived: Bool = false) {
        let reader = state.withLock { state -> CheckedContinuation<Void, Never>? in
            if isReceived { state.receiving = nil }
            guard state.end == nil else { return nil }
            state.events.append(event)
            defer { state.reader = nil }
            return state.reader
        }
        reader?.resume()
    }

    // MARK: Sending

    /// Sends a message, a ping or a Close frame, and waits until URLSession has taken a message.
    func send(_ event: SocketEvent) async throws {
        guard let task = state.withLock({ $0.end == nil ? $0.task : nil }) else { throw CancellationError() }
        switch event {
        case .message(let payload, let isText): try await send(payload, isText, over: task)
        case .ping(let payload):
            task.ping { [self] error in
                if error == nil { add(.pong(payload)) }
            }
        case .close(let code, let reason):
            state.withLock { $0.closing = event }
            task.close(code ?? 1000, reason: reason)
        case .pong, .oversized: break  // URLSession answers pings itself.
        }
    }

    private func send(_ payload: Data, _ isText: Bool, over task: any SocketTask) async throws {
        try await withCheckedThrowingContinuation { continuation in
            let number = state.withLock { state -> Int? in
                guard state.end == nil else { return nil }
                state.lastSender += 1
                state.sender = (state.lastSender, continuation)
                return state.lastSender
            }
            guard let number else { return continuation.resume(throwing: CancellationError()) }
            task.send(payload, isText: isText) { [self] in didSend(number, $0) }
        }
    }

    /// Resumes the sender of a message, the first time.
    private func didSend(_ number: Int, _ error: (any Error)?) {
        let sender = state.withLock { state -> CheckedContinuation<Void, any Error>? in
            guard state.sender?.number == number else { return nil }
            defer { state.sender = nil }
            return state.sender?.continuation
        }
        if let error { sender?.resume(throwing: error) } else { sender?.resume() }
    }
}

extension FoundationSocket.State {
    fileprivate enum Step {
        case event(SocketEvent), end(Result<Void, any Error>), receive(any SocketTask), wait
    }

    /// Returns the next step of the reader, and takes it unless `isDry`.
    fileprivate mutating func step(isDry: Bool = false) -> Step {
        if let event = events.first {
            if !isDry { events.removeFirst() }
            return .event(event)
        }
        if let end { return .end(end) }
        // After a failed receive, the reports of URLSession end the socket.
        guard receiving == nil, report.failure == nil, let task else { return .wait }
        if !isDry { receiving = .now }
        return .receive(task)
    }
}
