import Foundation
import Switchboard
import SwitchboardText

/// The parts of a request that a ``Deduplicator`` compares.
struct DeduplicationKey: Hashable {
    private struct Field: Hashable {
        let name: String
        let value: String
    }

    private let name: String
    private let fields: [Field]
    /// The origins that took part: a response that another origin chose must not answer the app's direct request.
    private let departures: Departures
    private let options: [ObjectIdentifier: AnyHashable]

    /// Creates the key of a request. Nil for a request that is never shared.
    init?(_ request: NetworkRequest, ignoring ignored: Set<String>) {
        var options = request.options
        guard !options.streamsResponse else { return nil }
        departures = request.departures
        let fields = request.headers.map { Field(name: $0.name.lowercased(), value: $0.value) }
        switch options.deduplication.kind {
        case .never: return nil
        case .id(let id):
            name = "id \(id) of \(options.partition ?? "")"
            // The user's identity: all credentials, in header fields, query and URL.
            let secrets = Redaction.standard
            let items = FormBody.decode(request.query ?? "").filter { secrets.isSecret(parameter: $0.name) }
            let user = [Field(name: "user", value: request.url?.withoutUserInfo.credentials ?? "")]
            self.fields =
                fields.filter { secrets.isSecret(header: $0.name) || request.carriesCredentials(in: $0.name) }
                + items.map { Field(name: "?" + $0.name, value: $0.value ?? "") } + user
            self.options = [:]
        case .automatic:
            guard request.method == .get || request.method == .head, request.body.isEmpty, let url = request.url else {
                return nil
            }
            name = "\(request.method) \(url.absoluteString)"
            // Fields of the same name keep their order.
            self.fields = fields.filter { !ignored.contains($0.name) }.enumerated()
                .sorted { ($0.element.name, $0.offset) < ($1.element.name, $1.offset) }.map(\.element)
            // Each caller has a separate total timeout. An option that is set to its default equals one that is not
            // set.
            options.timeouts.total = nil
            options.limits = options.limits
            self.options = options.comparable
        }
    }
}

// The values of options are Sendable, but AnyHashable does not declare it.
extension DeduplicationKey: @unchecked Sendable {}

extension RequestOptions {
    /// The rule by which a ``Deduplicator`` treats other requests as equal to this one. Default
    /// ``Deduplication/automatic``.
    public var deduplication: Deduplication {
        get { self[DeduplicationOption.self] }
        set { self[DeduplicationOption.self] = newValue }
    }
}

private enum DeduplicationOption: RequestOption { static let defaultValue = Deduplication.automatic }
