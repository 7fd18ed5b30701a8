import Switchboard

/// Adds stubs for the cases of one API; see ``StubAnswering/stubs(for:)``.
public struct EndPointStubs<EndPoint: EndPointType>: Sendable {
    let double: any StubAnswering

    /// Answers the requests of an endpoint; see ``StubAnswering/stub(_:times:with:)-(EndPoint,_,_)``.
    @discardableResult
    public func stub(_ endPoint: EndPoint, times: CallCount? = nil, with responses: MockResponse...) -> Stub {
        double.add(.endPoint(endPoint), times, responses)
    }
}
