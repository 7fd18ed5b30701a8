import SwitchboardPlatform
import Foundation
import Switchboard

extension AuthenticationInterceptor {
    /// What a caller does next.
    private enum Step {
        case use(Held)
        case wait(SharedCall<Held>, place: Int)
        case start(SharedCall<Held>, place: Int, after: Held?)
        case fail(NetworkError)
        case excess
    }

    /// The credential to send a request with; nil when nobody has signed in, and the request does not require it.
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
            // A refresh ahead of time that failed costs nothing while the credential is good.
            guard let held = self.space(of: request).held, !space.isRefused,
                held.generation == space.held?.generation,
                !authenticator.needsRefresh(held.credential, at: now())
            else { throw error }
            try CallCancellation.check()
            request.report(.authentication("not refreshed; still valid"))
            return held
        }
    }

    /// The credential to send a request with again, in place of the one that was refused; nil when there were enough
    /// refreshes. `failures` is how many had failed when the request was sent.
    func renewed(after held: Held, _ failures: Int, for request: NetworkRequest) async throws -> Held? {
        let space = space(of: request)
        if let newer = space.held, space.renewal == nil, newer.generation != held.generation, isDue(newer) {
            return try await renewal(replacing: newer, space.failures, for: request)
        }
        let renewed = try await renewal(replacing: held, failures, for: request)
        if renewed == nil { request.report(.authentication("rejected; refreshed too often to try again")) }
        return renewed
    }

    /// A credential in place of another: one that is there already, or that of a refresh, under way or new.
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
                // The other request did not require a credential, and asked for none.
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
            // It failed for the others while this request was on its way.
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
                let failure = Self.failure(error)
                let counts = noteFailure(failure, isLost: isLost, of: call, in: partition)
                if counts, isLost { await removeSaved(in: partition) }
                return .failure(failure)
            }
        }
    }

    /// A credential that was saved, or a new one; where there was none before, a new one is asked for only if `mayAsk`.
    private func renew(
        _ old: Held?, mayAsk: Bool, for call: SharedCall<Held>, in partition: String?
    ) async throws -> Held {
        var last = old?.credential
        if last == nil, state.withLock({ $0.spaces[partition]?.isLoaded != true }) {
            last = try await authenticator.load(in: partition)
            if let last, !authenticator.needsRefresh(last, at: now().addingTimeInterval(leeway.seconds)) {
                return try publish(last, of: call, isRefreshed: false, in: partition)
            }
            // A refresh that fails for a while must not lose what was saved.
            keep(last, for: call, in: partition)
        }
        guard last != nil || mayAsk else { throw NobodySignedIn() }
        let fresh = try await CredentialRefresh.run(of: self) { [last] in
            try await authenticator.refresh(last, in: partition)
        }
        return try publish(fresh, of: call, isRefreshed: true, in: partition)
    }

    /// Notes what was loaded: a credential to be refreshed, or none.
    private func keep(_ credential: A.Credential?, for call: SharedCall<Held>, in partition: String?) {
        state.withLock { state in
            guard state.spaces[partition]?.renewal === call else { return }
            state.spaces[partition]?.isLoaded = true
            guard let credential else { return }
            state.generation += 1
            state.spaces[partition]?.held = Held(credential: credential, generation: state.generation, leeway: leeway)
        }
    }

    /// Puts a new credential into use, for those who come from now on too.
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

    /// One that comes with less time than the leeway, by a clock that is wrong for instance, must not be refreshed before
    /// each request.
    func usefulLeeway(of credential: A.Credential, at date: Date) -> Duration? {
        if !authenticator.needsRefresh(credential, at: date.addingTimeInterval(leeway.seconds)) { return leeway }
        return authenticator.needsRefresh(credential, at: date) ? nil : .zero
    }

    /// Saves a credential unless it has been replaced meanwhile. One that cannot be saved is used all the same, and the
    /// monitors of the request that it was refreshed for hear of it.
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

    /// False when the call has no say any more.
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

    /// The error for those who wait, who asked for something else than what failed.
    private static func failure(_ error: any Error) -> NetworkError {
        var what = "refreshing the credential failed"
        guard let error = error as? NetworkError else {
            let why =
                error is CancellationError ? "its refresh was cancelled" : NetworkError.text(of: error)
            return NetworkError(.cannotAuthenticate, reason: "\(what): \(why)", underlying: error)
        }
        if let url = error.url { what += " from \(Redaction.standard.url(url.absoluteString))" }
        let code = error.code.isStatus || error.code == .cancelled ? .cannotAuthenticate : error.code
        // Of a failure of the same kind the title is said already.
        guard error.code == code else {
            return NetworkError(code, reason: "\(what): \(error.summary)", underlying: error)
        }
        guard let reason = error.reason else { return NetworkError(code, reason: what, underlying: error) }
        let isSaid = code == .cannotAuthenticate && error.url == nil
        return NetworkError(code, reason: isSaid ? reason : "\(what): \(reason)", underlying: error)
    }
}
