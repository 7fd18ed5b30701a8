import Foundation

/// A typed option that travels with a request: for interceptors and sessions, unknown to the core.
///
/// ```swift
/// enum Priority: RequestOption { static let defaultValue = 0 }
/// request[Priority.self] = 2
/// ```
public protocol RequestOption {
    /// What the option holds.
    associatedtype Value: Sendable
    /// What reading gives when nothing was set.
    static var defaultValue: Value { get }
}

/// The options that were set, by their types. Copying a request, retrying and redirecting keep them.
///
/// Made with a closure, they change what the router or manager has set and leave the rest of it:
///
/// ```swift
/// var options: RequestOptions { RequestOptions { $0.timeouts.total = .seconds(5) } }      // its idle timeout stays
/// ```
public struct RequestOptions: Sendable {
    private struct Fields: Sendable {
        var values: [ObjectIdentifier: any Sendable] = [:]
        /// The closures that made these options, to be run again over others, and what was set since.
        var changes: [@Sendable (inout RequestOptions) -> Void] = []
        var valuesSetSince: [ObjectIdentifier: any Sendable] = [:]
        var trail = RequestTrail()
    }

    /// Nil while nothing was set.
    private var fields: CopyOnWrite<Fields>?

    private var own: CopyOnWrite<Fields> {
        get { fields ?? CopyOnWrite(Fields()) }
        _modify {
            var own = fields ?? CopyOnWrite(Fields())
            fields = nil
            defer { fields = own }
            yield &own
        }
    }

    /// No options.
    public init() {}

    /// Options set in a closure. It runs once now, and again over the options of the router for each request: keep it
    /// free of side effects.
    public init(_ change: @escaping @Sendable (inout RequestOptions) -> Void) {
        change(&self)
        own.value.changes = [change]
        own.value.valuesSetSince = [:]
    }

    /// The value of an option: what was set, or its default.
    public subscript<Option: RequestOption>(option: Option.Type) -> Option.Value {
        get {
            guard let fields, !fields.value.values.isEmpty else { return Option.defaultValue }
            return fields.value.values[ObjectIdentifier(option)] as? Option.Value ?? Option.defaultValue
        }
        set {
            own.value.values[ObjectIdentifier(option)] = newValue
            own.value.valuesSetSince[ObjectIdentifier(option)] = newValue
        }
    }

    /// Where the request has been that they belong to.
    var trail: RequestTrail {
        get { fields?.value.trail ?? RequestTrail() }
        set { own.value.trail = newValue }
    }

    /// What was set, as far as it can be compared.
    package var comparable: [ObjectIdentifier: AnyHashable] {
        fields?.value.values.compactMapValues { $0 as? AnyHashable } ?? [:]
    }

    /// These options with those of `other` over them: its closure changes them, and what was set directly replaces
    /// them.
    public func merging(_ other: RequestOptions?) -> RequestOptions {
        guard let other, let theirs = other.fields?.value else { return self }
        guard let own = fields?.value else { return other }
        var result = theirs.values.isEmpty ? self : own.values.isEmpty ? other : overlaid(by: theirs)
        result.trail = own.trail.joined(theirs.trail)
        return result
    }

    private func overlaid(by other: Fields) -> RequestOptions {
        var result = self
        for change in other.changes { change(&result) }
        result.own.value.values.merge(other.valuesSetSince) { $1 }
        result.own.value.changes = []
        result.own.value.valuesSetSince = result.own.value.values
        return result
    }
}

extension RequestOptions {
    /// How long the parts of the call may take.
    public var timeouts: Timeouts {
        get { self[TimeoutsOption.self] }
        set { self[TimeoutsOption.self] = newValue }
    }

    /// How much the response may hold.
    public var limits: ResponseLimits {
        get { self[LimitsOption.self] }
        set { self[LimitsOption.self] = newValue }
    }

    /// What caches on the way may do. Default `.useProtocolCachePolicy`, which says nothing.
    ///
    /// There is no cache inside a session. The policies that reload ask those on the way with `Cache-Control: no-cache`
    /// ([RFC 9111 §5.2.1.4](https://www.rfc-editor.org/rfc/rfc9111#section-5.2.1.4)), and `.returnCacheDataDontLoad`
    /// with `only-if-cached`; a `Cache-Control` of the request's own wins.
    public var cachePolicy: URLRequest.CachePolicy {
        get { self[CachePolicyOption.self] }
        set { self[CachePolicyOption.self] = newValue }
    }

    /// What encodes a ``JSONBody`` that was given no encoder. Nil, the default, for declared order and ISO 8601 dates.
    public var encoder: (any RequestEncoder)? {
        get { self[EncoderOption.self] }
        set { self[EncoderOption.self] = newValue }
    }

    /// Whether the body is sent as gzip, as with ``GzipBody``. Default false.
    ///
    /// The server must know `Content-Encoding: gzip` in requests, which few do unless told to; one that does not answers
    /// 415, or takes the bytes for the content ([RFC 9110
    /// §8.4](https://www.rfc-editor.org/rfc/rfc9110#section-8.4)). A request or body that has a `Content-Encoding`
    /// already goes out as it is, and so does one without a body. ``RequestBuilder`` does it: a request that is handed
    /// to a session directly is not changed.
    public var compressesBody: Bool {
        get { self[CompressesBodyOption.self] }
        set { self[CompressesBodyOption.self] = newValue }
    }
}

extension RequestOptions {
    /// Hears how many bytes of the body were handed to the transport, each time some were; from the start again when the
    /// body is sent again. Calls come one after the other, under no lock, and before the answer, which waits for them.
    /// Nil, the default, for nobody.
    public var onBodySent: (@Sendable (_ count: Int64) -> Void)? {
        get { self[BodySentOption.self] }
        set { self[BodySentOption.self] = newValue }
    }

    /// Whether the session returns as soon as the head of a 2xx response is there, with an empty body, to be read from
    /// ``NetworkResponse/bytes`` as it arrives. Other responses still come whole, so that their bodies can explain
    /// them. Default false. ``FoundationSession`` cannot make a server wait: what the reader has no time for goes into
    /// a temporary file, of ``ResponseLimits/downloadedFile`` at most.
    public var streamsResponse: Bool {
        get { self[StreamsResponseOption.self] }
        set { self[StreamsResponseOption.self] = newValue }
    }
}

extension RequestOptions {
    /// What must not leak to requests with another value: cookies, credentials and stored responses are kept apart by it.
    /// A ``NetworkManager`` sets the name of its environment; one that an endpoint or the manager's options have, for one of
    /// several accounts for instance, is kept apart within it: `production/anna`. Default nil.
    public var partition: String? {
        get { self[PartitionOption.self] }
        set { self[PartitionOption.self] = newValue }
    }
}

private enum PartitionOption: RequestOption { static let defaultValue: String? = nil }
private enum BodySentOption: RequestOption {
    static let defaultValue: (@Sendable (_ count: Int64) -> Void)? = nil
}
private enum StreamsResponseOption: RequestOption { static let defaultValue = false }
private enum TimeoutsOption: RequestOption { static let defaultValue = Timeouts.standard }
private enum LimitsOption: RequestOption { static let defaultValue = ResponseLimits() }
private enum CachePolicyOption: RequestOption {
    static let defaultValue = URLRequest.CachePolicy.useProtocolCachePolicy
}
private enum EncoderOption: RequestOption { static let defaultValue: (any RequestEncoder)? = nil }
private enum CompressesBodyOption: RequestOption { static let defaultValue = false }
