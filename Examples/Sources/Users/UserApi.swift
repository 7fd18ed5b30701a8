import Foundation
import Switchboard

/// The endpoints of a service like reqres.
enum UserApi: Equatable {
    case list(page: Int)
    case user(id: Int)
    case add(NewUser)
}

extension UserApi: EndPointType {
    /// The manager's server.
    var baseURL: ManagerBaseURL { ManagerBaseURL() }

    var path: String {
        switch self {
        case .list, .add: "api/users"
        case .user(let id): "api/users/\(id)"
        }
    }

    var httpMethod: HTTPMethod {
        switch self {
        case .list, .user: .get
        case .add: .post
        }
    }

    var task: HTTPTask {
        switch self {
        case .list(let page): .requestParameters(urlParameters: ["page": page])
        case .user: .request
        case .add(let user): .requestBody(JSONBody(user))
        }
    }
}
