extension NetworkError {
    /// Not available: the name in ``NetworkResponse`` for ``status``.
    @available(*, unavailable, renamed: "status")
    public var statusCode: Int? { status }
}
