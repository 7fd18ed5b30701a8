import Foundation
import Switchboard
import SwitchboardText

/// What makes requests equal to a ``Deduplicator``.
struct DeduplicationKey: Hashable {
    private struct Field: Hashable {
        let name: String
        let value: String
    }

    private let name: String
    private let fields: [Field]
    /// Where it has been: what another origin chose is no answer for the app's own request.
    private let departures: Departures
    private let options: [ObjectIdentifier: AnyHashable]

    /// Nil for a request that is never shared.
    init?(_ request: NetworkRequest, ignoring ignored: Set<String>) {
        var options = request.options
        guard !options.streamsResponse else { return nil }
        departures = request.departures
        let fields = request.headers.map { Field(name: $0.name.lowercased(), value: $0.value) }
        switch options.deduplication.kind {
        case .never: return nil
        case .id(let id):
            name = "id \(id) of \(options.partition ?? "")"
            // Whose request it is: by whatever its credentials are called, and wherever they stand.
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
            // Fields of one name keep their order.
            self.fields = fields.filter { !ignored.contains($0.name) }.enumerated()
                .sorted { ($0.element.name, $0.offset) < ($1.element.name, $1.offset) }.map(\.element)
            // Each caller's own; and what is set to its default is as if it were not set.
            options.timeouts.total = nil
            options.limits = options.limits
            self.options = options.comparable
        }
    }
}

// The values of options are Sendable, which AnyHashable does not say.
extension DeduplicationKey: @unchecked Sendable {}

extension RequestOptions {
    /// Which requests a ``Deduplicator`` takes for equal to this one. Default ``Deduplication/automatic``.
    public var deduplication: Deduplication {
        get { self[DeduplicationOption.self] }
        set { self[DeduplicationOption.self] = newValue }
    }
}

private enum DeduplicationOption: RequestOption { static let defaultValue = Deduplication.automatic }
