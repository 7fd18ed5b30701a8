// The names that prose implies.
import SwitchboardAuth
import SwitchboardCache
import SwitchboardCookies
import Foundation
import Switchboard

let router = Router<MovieApi>()
let manager = NetworkManager(servers: [.production: "https://api.example.com"])
let session: any NetworkSession = DefaultSession.shared

let url = URL(filePath: "/")
let file = url
let folder = url
let video = url
let photo = url
let certificate = url
let privateKey = url
let stateFile = url
let cookieFile = url
let tokenFile = url
let companyAuthority = url

let request = NetworkRequest(.get, url)
let response = NetworkResponse(statusCode: 200)
let todo = Todo(id: 1, title: "milk")
let body = MultipartBody()
let progress = TransferProgress()
let key = "key"
let password = "password"

/// JSON text, as a server would send it.
let page = "{}"
let list = "[]"
let big = Data()

let client = OAuth2Client(id: "films-app", tokenURL: url)
let token = OAuthToken(accessToken: "t")
let login = AuthenticationInterceptor(client)
let cookies = CookieInterceptor()
let cache = ResponseCache()
let bytes = Data()
let data = Data()

/// Something of the app's own that makes bytes.
struct Export: Sendable {
    func nextChunk() async throws -> Data? { nil }
}
let export = Export()

let server = url

/// A safe of the app's own.
struct Vault: Sendable {
    func sign(_ text: String) async throws -> String { text }
}
let vault = Vault()
