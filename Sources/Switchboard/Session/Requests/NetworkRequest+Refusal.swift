extension NetworkRequest {
    /// Not available: the name in ``EndPointType`` and Foundation for ``method``.
    @available(*, unavailable, renamed: "method")
    public var httpMethod: HTTPMethod { method }
}
