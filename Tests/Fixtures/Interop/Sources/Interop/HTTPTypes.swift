import Foundation
import HTTPTypes
import Switchboard

extension HTTPFields {
    /// Creates fields, without those whose name is invalid.
    init(_ headers: HTTPHeaders) {
        self.init()
        for field in headers {
            guard let name = HTTPField.Name(field.name)
            else { continue }
            append(HTTPField(name: name, value: field.value))
        }
    }
}

extension HTTPHeaders {
    init(_ fields: HTTPFields) {
        self.init(
            fields.map {
                HTTPHeader(name: $0.name.rawName, value: $0.value)
            })
    }
}

extension HTTPRequest {
    /// Nil without a URL, or with an invalid method.
    init?(_ request: NetworkRequest) {
        guard let url = request.url,
            let method = Method(request.method.rawValue)
        else { return nil }
        self.init(
            method: method, url: url,
            headerFields: HTTPFields(request.headers))
    }
}

extension NetworkRequest {
    init(_ request: HTTPRequest, body: any HTTPBody = EmptyBody()) {
        self.init(
            HTTPMethod(rawValue: request.method.rawValue), request.url,
            headers: HTTPHeaders(request.headerFields), body: body)
    }
}

extension HTTPResponse {
    /// Nil for a status that has not three digits.
    init?(_ response: NetworkResponse) {
        guard (100...999).contains(response.statusCode) else {
            return nil
        }
        self.init(
            status: Status(code: response.statusCode),
            headerFields: HTTPFields(response.headers))
    }
}

extension NetworkResponse {
    init(_ response: HTTPResponse, body: Data = Data()) {
        self.init(
            statusCode: response.status.code,
            headers: HTTPHeaders(response.headerFields), body: body)
    }
}
