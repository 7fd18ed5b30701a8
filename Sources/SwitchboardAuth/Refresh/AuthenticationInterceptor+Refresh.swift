import SwitchboardPlatform
import Foundation
import Switchboard

extension AuthenticationInterceptor {
    /// The next step of a caller.
    private enum Step {
        case use(Held)
        case wait(SharedCall<Held>, place: Int)
        case start(SharedCall<Held>, place: Int, after: Held?)
        case fail(NetworkError)
        case excess
    }

    /// Returns the credential for a request. Nil when no user has signed in and the request does not require it.
    func credential(for request: NetworkRequest) async throws -> Held? {
        let space = space(of: request)
        if space.renewal == nil, isSignedOut(space), request.options.authentication == .optional { return nil }
        if space.renewal == nil, !space.isRefused, let held = space.held, !isDue(held) { return held }
        do {
            if let held = try await renewal(replacing: space.held, space.failures, for: request) { return held }
            throw NetworkError(
                .cannotAuthenticate,
                reason: "the credential expired, and was refreshed \(refreshLimit.count) times within "
                    + refreshLimit.window.secondsText)
        } catch {
            if goesWithoutCredential(request, after: error) { return nil }
            // A failed early refresh does no harm while the credential is valid.
            guard let held = self.space(of: request).held, !space.isRefused,
                held.generation == space.held?.generation,
                !authenticator.needsRefresh(held.credential, at: now())
            else { throw error }
            try CallCancellation.check()
            request.report(.authentication("not refreshed; still valid"))
            return held
        }
    }

    /// Returns the credential for the second attempt, in place of the refused one. Nil when the refresh limit is
    /// reached. `failures` is the number of failed refreshes before the request was sent.
    func renewed(after held: Held, _ failures: Int, for request: NetworkRequest) async throws -> Held? {
        let space = space(of: request)
        if let newer = space.held, space.renewal == nil, newer.generation != held.generation, isDue(newer) {
            return try await renewal(replacing: newer, space.failures, for: request)
        }
        let renewed = try await renewal(replacing: held, failures, for: request)
        if renewed == nil { request.report(.authentication("rejected; refreshed too often to try again")) }
        return renewed
    }

    /// Returns a credential in place of another one: a newer one, or the result of a refresh that is in flight or
    /// begins now.
    private func renewal(replacing old: Held?, _ failures: Int, for request: NetworkRequest) async throws -> Held? {
        let partition = request.options.partition
        switch step(replacing: old, failures, in: partition, at: now()) {
        case .use(let held):
            request.report(.authentication("a newer credential exists"))
            return held
        case .fail(let error): throw error
        case .excess: return nil
        case .wait(let call, let place):
            do {
                return try await wait(for: call, place, request)
            } catch is NobodySignedIn where request.options.authentication != .optional {
                // The other request did not require a credential, so no new one was requested.
                return try await renewal(replacing: old, failures, for: request)
            }
        case .start(let call, let place, let held):
            request.report(.authentication(held == nil ? "load" : "refresh"))
            start(call, after: held, for: request)
            return try await wait(for: call, place, request)
        }
    }

    private func step(replacing old: Held?, _ failures: Int, in partition: String?, at date: Date) -> Step {
        state.withLock { state in
            var space = state.spaces[partition] ?? Space()
            if let call = space.renewal, let place = call.enter() { return .wait(call, place: place) }
            if let held = space.held, held.generation != old?.generation, !space.isRefused { return .use(held) }
            // The refresh failed for other requests while this one was in flight.
            if space.failures > failures, let failure = space.failure { return .fail(failure) }
            if space.isExcessive(at: date, refreshLimit) { return .excess }
            let call = SharedCall<Held>(endsWithCallers: false)
            space.renewal = call
            state.spaces[partition] = space
            return .start(call, place: call.enter() ?? 0, after: space.held)
        }
    }

    private func wait(for call: SharedCall<Held>, _ place: Int, _ request: NetworkRequest) async throws -> Held {
        request.report(.waiting(for: "a new credential"))
        let held = try await call.value(at: place)
        request.report(.authentication(held.isRefreshed ? "refreshed" : "loaded"))
        return held
    }

    // MARK: The refresh itself

    private func start(_ call: SharedCall<Held>, after old: Held?, for request: NetworkRequest) {
        let partition = request.options.partition
        let timer = Task { [clock, refreshTimeout] in
            try await clock.sleep(for: refreshTimeout)
            let error = NetworkError(
                .timedOut, reason: "refreshing the credential took longer than \(refreshTimeout.secondsText)")
            noteFailure(error, isLost: false, of: call, in: partition)
            call.finish(.failure(error))
        }
        call.start { [self] in
            do {
                let mayAsk = request.options.authentication != .optional
                let held = try await renew(old, mayAsk: mayAsk, for: call, in: partition)
                timer.cancel()
                if held.isRefreshed { await save(held, for: request) }
                return .success(held)
            } catch let error as NobodySignedIn {
                timer.cancel()
                state.withLock { if $0.spaces[partition]?.renewal === call { $0.spaces[partition]?.renewal = nil } }
                return .failure(error)
            } catch {
                timer.cancel()
                let isLost = authenticator.isLost(after: error)
                var failure = Self.failure(error)
                if old == nil, isLost { failure.reason = failure.reason.map { $0 + hint(about: partition) } }
                let counts = noteFailure(failure, isLost: isLost, of: call, in: partition)
                if counts, isLost { await removeSaved(in: partition) }
                return .failure(failure)
            }
        }
    }

    /// Returns a saved credential or a new one. Without an old credential, a new one is requested only if `mayAsk`.
    private func renew(
        _ old: Held?, mayAsk: Bool, for call: SharedCall<Held>, in partition: String?
    ) async throws -> Held {
        var last = old?.credential
        if last == nil, state.withLock({ $0.spaces[partition]?.isLoaded != true }) {
            last = try await authenticator.load(in: partition)
            if let last, !authenticator.needsRefresh(last, at: now().addingTimeInterval(leeway.seconds)) {
                return try publish(last, of: call, isRefreshed: false, in: partition)
            }
            // A refresh that fails temporarily must not lose the saved credential.
            keep(last, for: call, in: partition)
        }
        guard last != nil || mayAsk else { throw NobodySignedIn() }
        let fresh = try await CredentialRefresh.run(of: self) { [last] in
            try await authenticator.refresh(last, in: partition)
        }
        return try publish(fresh, of: call, isRefreshed: true, in: partition)
    }

    /// Records that loading is done, and stores the loaded credential, which needs a refresh.
    private func keep(_ credential: A.Credential?, for call: SharedCall<Held>, in partition: String?) {
        state.withLock { state in
            guard state.spaces[partition]?.renewal === call else { return }
            state.spaces[partition]?.isLoaded = true
            guard let credential else { return }
            state.generation += 1
            state.spaces[partition]?.held = Held(credential: credential, generation: state.generation, leeway: leeway)
        }
    }

    /// Puts a new credential into use, also for later requests.
    private func publish(
        _ credential: A.Credential, of call: SharedCall<Held>, isRefreshed: Bool, in partition: String?
    ) throws -> Held {
        let date = now()
        let leeway = usefulLeeway(of: credential, at: date)
        return try state.withLock { state in
            guard var space = state.spaces[partition], space.renewal === call else { throw CancellationError() }
            state.generation += 1
            let held = Held(
                credential: credential, generation: state.generation, leeway: leeway, isRefreshed: isRefreshed)
            space.held = held
            (space.renewal, space.isLoaded, space.isRefused, space.failure) = (nil, true, false, nil)
            if isRefreshed { space.noteRefresh(at: date, refreshLimit) }
            state.spaces[partition] = space
            return held
        }
    }

    /// Returns the leeway for a credential. A credential that comes with less time than the leeway, for example due to
    /// a wrong clock, must not be refreshed before each request. Nil when it is expired already.
    func usefulLeeway(of credential: A.Credential, at date: Date) -> Duration? {
        if !authenticator.needsRefresh(credential, at: date.addingTimeInterval(leeway.seconds)) { return leeway }
        return authenticator.needsRefresh(credential, at: date) ? nil : .zero
    }

    /// Saves a credential unless it has been replaced meanwhile. If saving fails, the credential is used anyway, and
    /// the monitors of the request receive a note.
    private func save(_ held: Held, for request: NetworkRequest) async {
        let partition = request.options.partition
        do {
            try await saving.run { [self] in
                guard generation(in: partition) == held.generation else { return }
                try await authenticator.save(held.credential, in: partition)
            }
        } catch {
            request.report(.note("the new credential could not be saved: \(NetworkError.caught(error).summary)"))
        }
    }

    private func removeSaved(in partition: String?) async {
        try? await saving.run { [self] in
            guard generation(in: partition) == nil else { return }
            try await authenticator.save(nil, in: partition)
        }
    }

    private func generation(in partition: String?) -> Int? {
        state.withLock { $0.spaces[partition]?.held?.generation }
    }

    /// Records a failed refresh. Returns false when the refresh was superseded.
    @discardableResult
    private func noteFailure(
        _ error: NetworkError, isLost: Bool, of call: SharedCall<Held>, in partition: String?
    ) -> Bool {
        state.withLock { state in
            guard var space = state.spaces[partition], space.renewal === call else { return false }
            (space.renewal, space.failure) = (nil, error)
            space.failures += 1
            if isLost { space.held = nil }
            state.spaces[partition] = space
            return true
        }
    }

    /// Returns the error for the waiting requests. The failed request is a different one.
    private static func failure(_ error: any Error) -> NetworkError {
        var what = "refreshing the credential failed"
        guard let error = error as? NetworkError else {
            let why =
                error is CancellationError ? "its refresh was cancelled" : NetworkError.text(of: error)
            return NetworkError(.cannotAuthenticate, reason: "\(what): \(why)", underlying: error)
        }
        if let url = error.url { what += " from \(Redaction.standard.url(url.absoluteString))" }
        // The request itself was not answered, so its response cannot be at fault.
        let isAnswer = error.code.isStatus || error.code.isKind(of: .cannotDecodeResponse)
        let code = isAnswer || error.code == .cancelled ? .cannotAuthenticate : error.code
        // The title of an error with the same code says this already.
        guard error.code == code else {
            return NetworkError(code, reason: "\(what): \(error.summary)", underlying: error)
        }
        guard let reason = error.reason else { return NetworkError(code, reason: what, underlying: error) }
        let isSaid = code == .cannotAuthenticate && error.url == nil
        return NetworkError(code, reason: isSaid ? reason : "\(what): \(reason)", underlying: error)
    }
}
