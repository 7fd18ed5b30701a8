import SwitchboardCache
import Foundation
import Switchboard

/// The endpoints of the friends' server. The manager adds the user's ID and the token to all requests.
enum FriendsApi: Equatable {
    case list
    case add(NewFriend)
    case remove(id: Int)
    case group(String)
}

extension FriendsApi: EndPointType {
    /// The manager's server.
    var baseURL: ManagerBaseURL { ManagerBaseURL() }

    var path: String {
        switch self {
        case .list, .add: "api/friends"
        case .remove(let id): "api/friends/\(id)"
        case .group(let name): "api/groups/\(segment: name)"
        }
    }

    var httpMethod: HTTPMethod {
        switch self {
        case .list, .group: .get
        case .add: .post
        case .remove: .delete
        }
    }

    var task: HTTPTask {
        switch self {
        case .list, .remove, .group: .request
        case .add(let friend): .requestBody(JSONBody(friend))
        }
    }

    /// The list is cached for a minute.
    var options: RequestOptions {
        guard case .list = self else { return RequestOptions() }
        return RequestOptions { $0.cacheLifetime = .time(.seconds(60)) }
    }
}
