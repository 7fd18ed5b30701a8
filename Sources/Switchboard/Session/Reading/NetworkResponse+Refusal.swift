extension NetworkResponse {
    /// Not available: the name in ``NetworkError`` for ``statusCode``.
    @available(*, unavailable, renamed: "statusCode")
    public var status: Int { statusCode }
}
