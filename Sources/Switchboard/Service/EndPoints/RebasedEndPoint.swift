/// An endpoint at another base URL, to compare requests independently of their server.
package struct RebasedEndPoint<EndPoint: EndPointType>: EndPointType {
    private let endPoint: EndPoint
    package let baseURL: String

    package init(_ endPoint: EndPoint, at baseURL: String) {
        self.endPoint = endPoint
        self.baseURL = baseURL
    }

    package var path: String { endPoint.path }
    package var httpMethod: EndPoint.MethodProperty { get throws { try endPoint.httpMethod } }
    package var task: EndPoint.TaskProperty { get throws { try endPoint.task } }
    package var headers: EndPoint.HeadersProperty { get throws { try endPoint.headers } }
    package var options: EndPoint.OptionsProperty { get throws { try endPoint.options } }
}
