import Foundation

/// The options of a request, by type. Copies, retries and redirects of a request keep them.
///
/// Options made with a closure change those of the router or manager, and keep the rest:
///
/// ```swift
/// // Keeps the idle timeout.
/// var options: RequestOptions {
///     RequestOptions { $0.timeouts.total = .seconds(5) }
/// }
/// ```
public struct RequestOptions: Sendable {
    private struct Fields: Sendable {
        var values: [ObjectIdentifier: any Sendable] = [:]
        /// The closures that set options. Merging applies them to the other options.
        var changes: [@Sendable (inout RequestOptions) -> Void] = []
        /// The values that were set after the closures. As closures, they would grow with each value that is set.
        var valuesSetSince: [ObjectIdentifier: any Sendable] = [:]
        var route = RequestRoute()

        /// The values that were set directly.
        var direct: [ObjectIdentifier: any Sendable] { changes.isEmpty ? values : valuesSetSince }
    }

    /// The values, or nil if none was set.
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

    /// Creates empty options.
    public init() {}

    /// Creates options with a closure. It runs once now, and again on the router's options for each request, so it must
    /// be free of side effects.
    public init(_ change: @escaping @Sendable (inout RequestOptions) -> Void) {
        change(&self)
        own.value.changes = [change]
        own.value.valuesSetSince = [:]
    }

    /// The value of an option, or its default if it is not set.
    public subscript<Option: RequestOption>(option: Option.Type) -> Option.Value {
        // Inlinable, because the code is several times faster when it is specialized for the option.
        @inlinable get {
            guard hasValues, let value = value(of: ObjectIdentifier(option)) else { return Option.defaultValue }
            return value as? Option.Value ?? Option.defaultValue
        }
        set { setValue(newValue, of: ObjectIdentifier(option)) }
    }

    /// Sets an option. The code is not specialized for each option.
    private mutating func setValue(_ value: any Sendable, of option: ObjectIdentifier) {
        own.value.values[option] = value
        if !own.value.changes.isEmpty { own.value.valuesSetSince[option] = value }
    }

    @usableFromInline
    var hasValues: Bool { fields.map { !$0.value.values.isEmpty } ?? false }

    @usableFromInline
    func value(of option: ObjectIdentifier) -> (any Sendable)? { fields?.value.values[option] }

    var route: RequestRoute {
        get { fields?.value.route ?? RequestRoute() }
        set { own.value.route = newValue }
    }

    /// The values that can be compared.
    package var comparable: [ObjectIdentifier: AnyHashable] {
        fields?.value.values.compactMapValues { $0 as? AnyHashable } ?? [:]
    }

    /// Returns these options merged with `other`. The closure of `other` changes them, and values that were set
    /// directly replace them. The closures of both also change the options of a router.
    public func merging(_ other: RequestOptions?) -> RequestOptions {
        var result = overridden(by: other)
        guard let own = fields?.value, let theirs = other?.fields?.value,
            !own.changes.isEmpty || !theirs.changes.isEmpty
        else { return result }
        let direct = own.direct
        result.own.value.changes = own.changes + [{ $0.own.value.values.merge(direct) { $1 } }] + theirs.changes
        result.own.value.valuesSetSince = theirs.direct
        return result
    }

    /// Returns these options merged with `other`, as the options of a request. The closures of two merged options are
    /// dropped.
    func overridden(by other: RequestOptions?) -> RequestOptions {
        guard let other, let theirs = other.fields?.value else { return self }
        guard let own = fields?.value else { return other }
        var result =
            theirs.values.isEmpty && theirs.changes.isEmpty ? self : own.values.isEmpty ? other : overlaid(by: theirs)
        result.route = own.route.merging(theirs.route)
        return result
    }

    private func overlaid(by other: Fields) -> RequestOptions {
        var result = self
        for change in other.changes { change(&result) }
        result.own.value.values.merge(other.direct) { $1 }
        result.own.value.changes = []
        result.own.value.valuesSetSince = [:]
        return result
    }
}

extension RequestOptions {
    /// The time limits for the parts of a call.
    public var timeouts: Timeouts {
        get { self[TimeoutsOption.self] }
        set { self[TimeoutsOption.self] = newValue }
    }

    /// The size limits for the response.
    public var limits: ResponseLimits {
        get { self[LimitsOption.self] }
        set { self[LimitsOption.self] = newValue }
    }

    /// The instruction for caches between client and server. Default `.useProtocolCachePolicy`, which sends none.
    ///
    /// A session has no cache. `.reloadIgnoringLocalAndRemoteCacheData` sends `Cache-Control: no-cache` ([RFC 9111
    /// §5.2.1.4](https://www.rfc-editor.org/rfc/rfc9111#section-5.2.1.4)), `.reloadRevalidatingCacheData` sends
    /// `max-age=0`, and `.returnCacheDataDontLoad` sends `only-if-cached`. A `Cache-Control` field that the request
    /// sets itself takes precedence. A router adds the field when it builds the request.
    public var cachePolicy: URLRequest.CachePolicy {
        get { self[CachePolicyOption.self] }
        set { self[CachePolicyOption.self] = newValue }
    }

    /// The encoder for a ``JSONBody`` without one. Nil, the default, keeps the declared order and writes ISO 8601
    /// dates. It does not write ``Parameters`` of a task: their names and those of models in them stay unchanged.
    public var encoder: (any RequestEncoder)? {
        get { self[EncoderOption.self] }
        set { self[EncoderOption.self] = newValue }
    }

    /// Whether the body is sent as gzip, as with ``GzipBody``. Default false.
    ///
    /// The server must accept `Content-Encoding: gzip` in requests, which few do by default. Others answer 415, or
    /// treat the compressed bytes as the content ([RFC 9110 §8.4](https://www.rfc-editor.org/rfc/rfc9110#section-8.4)).
    /// A request or body with a `Content-Encoding` stays as it is, and so does a request without a body.
    /// A router applies this option: a request that is passed to a session directly is not compressed.
    public var compressesBody: Bool {
        get { self[CompressesBodyOption.self] }
        set { self[CompressesBodyOption.self] = newValue }
    }
}

extension RequestOptions {
    /// A closure that receives the number of body bytes passed to the transport so far. It restarts at the beginning
    /// when the body is sent again. It is called serially, outside of any lock. The response waits for the calls, and
    /// over ``FoundationSession`` the session's other exchanges do too, so it should return quickly. Default nil.
    public var onBodySent: (@Sendable (_ count: Int64) -> Void)? {
        get { self[BodySentOption.self] }
        set { self[BodySentOption.self] = newValue }
    }

    package mutating func addBodySent(_ report: @escaping @Sendable (_ count: Int64) -> Void) {
        guard let own = onBodySent else { return onBodySent = report }
        onBodySent = { count in
            own(count)
            report(count)
        }
    }

    /// Whether the session returns as soon as the head of a 2xx response has arrived. The body is then empty, and
    /// ``NetworkResponse/bytes`` delivers it while it arrives. Other responses still arrive whole, so that their bodies
    /// can explain them. A call that decodes a value fails with ``NetworkError/Code/noData``. Default false.
    /// ``FoundationSession`` cannot pause a server: it writes unread bytes to a temporary file, up to
    /// ``ResponseLimits/downloadedFile``.
    public var streamsResponse: Bool {
        get { self[StreamsResponseOption.self] }
        set { self[StreamsResponseOption.self] = newValue }
    }

    /// Whether ``streamsResponse`` applies to every status. A session may ignore it. Default false.
    package var streamsEveryStatus: Bool {
        get { self[StreamsEveryStatusOption.self] }
        set { self[StreamsEveryStatusOption.self] = newValue }
    }
}

extension RequestOptions {
    /// The partition of cookies, credentials and cached responses. They never reach requests of another partition. A
    /// ``NetworkManager`` sets it to the name of its environment. If an endpoint or the manager's options set one, for
    /// instance for one of several accounts, it becomes a partition inside the environment: `production/anna`. Default
    /// nil.
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
private enum StreamsEveryStatusOption: RequestOption { static let defaultValue = false }
private enum TimeoutsOption: RequestOption { static let defaultValue = Timeouts.standard }
private enum LimitsOption: RequestOption { static let defaultValue = ResponseLimits() }
private enum CachePolicyOption: RequestOption {
    static let defaultValue = URLRequest.CachePolicy.useProtocolCachePolicy
}
private enum EncoderOption: RequestOption { static let defaultValue: (any RequestEncoder)? = nil }
private enum CompressesBodyOption: RequestOption { static let defaultValue = false }

/// A typed option that a request carries for interceptors and sessions. Each module can define more.
///
/// ```swift
/// enum Priority: RequestOption { static let defaultValue = 0 }
///
/// var request = NetworkRequest(.get, url)
/// request[Priority.self] = 2
/// ```
public protocol RequestOption: Sendable {
    /// The type of the option's value.
    associatedtype Value: Sendable
    /// The value of the option when it is not set.
    static var defaultValue: Value { get }
}
