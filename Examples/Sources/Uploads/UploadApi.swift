import Foundation
import Switchboard

/// The endpoints of the upload server, one for each kind of body.
enum UploadApi {
    case json(Parameters)
    case form(Parameters)
    case multipart(MultipartBody)
    case file(URL)
}

extension UploadApi: EndPointType {
    /// The manager's server.
    var baseURL: ManagerBaseURL { ManagerBaseURL() }

    var path: String {
        switch self {
        case .json: "json"
        case .form: "form"
        case .multipart: "multipart"
        case .file(let file): "files/\(segment: file.lastPathComponent)"
        }
    }

    var httpMethod: HTTPMethod {
        switch self {
        case .json, .form, .multipart: .post
        case .file: .put
        }
    }

    var task: HTTPTask {
        switch self {
        case .json(let parameters): .requestBody(JSONBody(parameters))
        case .form(let parameters): .requestBody(FormBody(parameters))
        case .multipart(let form): .upload(form)
        case .file(let file): .upload(FileBody(file))
        }
    }

    /// A slow upload has no time limit.
    var options: RequestOptions { RequestOptions { $0.timeouts.total = nil } }
}
