import Foundation
import Switchboard
import SwitchboardContracts
import SwitchboardHAR
import SwitchboardPlatform

/// The contracts that the answers of one mock must keep.
final class MockContracts: Sendable {
    private struct State: Sendable {
        var contracts: [(matcher: RequestMatcher, contract: Contract)] = []
        var faults: [String] = []
    }

    private let state = Protected(State())

    func hold(_ matcher: RequestMatcher, to contract: Contract) {
        state.withLock { $0.contracts.append((matcher, contract)) }
    }

    /// One message per answer that broke a contract, without repetitions.
    var faults: [String] { state.withLock(\.faults) }

    /// Returns a message when a 2xx answer breaks a contract of its request, and records it.
    /// A string that is `mask` keeps each contract.
    func breach(
        of request: @autoclosure () -> RecordedRequest, statusCode: Int, body: @autoclosure () -> Data,
        mask: String? = nil
    ) -> String? {
        let contracts = state.withLock(\.contracts)
        guard !contracts.isEmpty, Contract.covers(statusCode), statusCode != 204 else { return nil }
        let request = request()
        if request.method == .head { return nil }
        for (matcher, contract) in contracts where matcher.matches(request) {
            let differences = contract.differences(in: body(), mask: mask)
            guard !differences.isEmpty else { continue }
            let text = "the answer to \(request) breaks the contract of \(matcher): \(differences.summary)"
            state.withLock { state in
                if !state.faults.contains(text) { state.faults.append(text) }
            }
            return text
        }
        return nil
    }

    /// Returns a message when a scripted answer breaks a contract. An answer that a fault cuts short keeps it,
    /// as does a body that the test has encoded.
    func breach(of request: RecordedRequest, by response: MockResponse) -> String? {
        guard response.allowsBody(to: request.method), let content = response.completeContent else { return nil }
        return breach(of: request, statusCode: response.statusCode, body: content)
    }
}

extension MockResponse {
    /// The body without its coding. Nil if a fault changes it, or if the test has encoded it.
    fileprivate var completeContent: Data? {
        guard case .complete = outcome else { return nil }
        switch encodedContent {
        case nil: return headers.isEncoded ? nil : body
        case .gzip(let data): return data
        case .mislabelled: return nil
        }
    }
}

extension StubAnswering {
    /// Requires that the answers to an endpoint keep a contract; see `hold(_:to:)`.
    ///
    /// ```swift
    /// import SwitchboardContracts
    ///
    /// let session = StubSession()
    /// session.stub(MovieApi.popular(page: 1), with: .json(page))
    /// session.hold(
    ///     MovieApi.popular(page: 1),
    ///     to: try Contract(contentsOf: file))
    /// ```
    public func hold<EndPoint: EndPointType>(_ endPoint: EndPoint, to contract: Contract) {
        hold(.endPoint(endPoint), to: contract)
    }
}

extension Cassette {
    /// Requires that the answers to the requests that match keep a contract.
    ///
    /// A played 2xx answer that breaks it is one of the ``faults``, and the call throws
    /// `NetworkError.Code.contractFault`. The mask of a secret keeps each contract. Recording is not checked.
    public func hold(_ matcher: RequestMatcher, to contract: Contract) {
        contracts.hold(matcher, to: contract)
    }

    /// Requires that the answers to an endpoint keep a contract; see `hold(_:to:)`.
    public func hold<EndPoint: EndPointType>(_ endPoint: EndPoint, to contract: Contract) {
        hold(.endPoint(endPoint), to: contract)
    }

    /// Throws when an entry breaks a contract. The body of the request is in memory.
    func check(_ entry: HAR.Entry, for request: NetworkRequest) throws(NetworkError) {
        let response = entry.response
        let breach = contracts.breach(
            of: request.recorded(body: (request.body as? DataBody)?.data, index: 0), statusCode: response.status,
            body: response.content.data, mask: masking.redaction.mask)
        guard let breach else { return }
        throw NetworkError(.contractFault, reason: "cassette: \(breach)").adding(request)
    }
}
