import Foundation
import Glibc
import Switchboard
import SwitchboardMocks
import Synchronization

/// The server, in a separate process, so that only the client's calls fail.
enum Server {
    /// Serves until the standard input ends. Writes its port to the standard output.
    static func serve() -> Never {
        let uploads = Mutex<[String: Data]>([:])
        do {
            let server = try MockServer { answer($0, uploads) }
            print(server.port)
            fflush(nil)
            var byte: UInt8 = 0
            while read(STDIN_FILENO, &byte, 1) > 0 {}
            _exit(0)
        } catch {
            stop("torture: \(error)", 1)
        }
    }

    private static func answer(_ request: RecordedRequest, _ uploads: borrowing Mutex<[String: Data]>) -> MockResponse {
        let words = request.path.split(separator: "/").map(String.init)
        switch words.first {
        case "file": return file(request, count: words.count > 1 ? Int(words[1]) ?? 0 : 0)
        case "take": return .text("\(request.body == Body.data(request.body.count)) \(request.body.count)")
        case "echo": return .webSocket(.echo)
        case "uploads": return upload(request, words.dropFirst().first, uploads)
        default: return .status(404)
        }
    }

    private static func file(_ request: RecordedRequest, count: Int) -> MockResponse {
        let data = Body.data(count)
        let headers: HTTPHeaders = ["ETag": "\"\(count)\"", "Cache-Control": "max-age=3600"]
        guard let range = request.headers["Range"], request.headers["If-Range"] == "\"\(count)\"",
            let start = range.split(separator: "=").last?.split(separator: "-").first.flatMap({ Int($0) }),
            start < count
        else { return .data(data, headers: headers) }
        var partial = headers
        partial["Content-Range"] = "bytes \(start)-\(count - 1)/\(count)"
        return .data(data.dropFirst(start), statusCode: 206, headers: partial)
    }

    /// Answers as a server of tus.
    private static func upload(
        _ request: RecordedRequest, _ name: String?, _ uploads: borrowing Mutex<[String: Data]>
    ) -> MockResponse {
        guard let name else {
            let name = UUID().uuidString
            uploads.withLock { $0[name] = Data() }
            return .status(201, headers: ["Location": "/uploads/\(name)"])
        }
        return uploads.withLock { uploads in
            guard let data = uploads[name] else { return .status(404) }
            switch request.method {
            case .head: return .status(204, headers: ["Upload-Offset": "\(data.count)", "X-Upload": name])
            case .get: return .data(data)
            default:
                guard request.headers["Upload-Offset"] == "\(data.count)" else { return .status(409) }
                uploads[name] = data + request.body
                return .status(204, headers: ["Upload-Offset": "\(data.count + request.body.count)", "X-Upload": name])
            }
        }
    }
}

/// Starts this program again as the server, which ends with this process.
struct ServerProcess {
    let url: URL

    init() {
        var pair: [Int32] = [-1, -1]
        var actions = posix_spawn_file_actions_t()
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &pair) == 0,
            posix_spawn_file_actions_init(&actions) == 0
        else { stop("torture: cannot start the server", 1) }
        posix_spawn_file_actions_adddup2(&actions, pair[1], STDIN_FILENO)
        posix_spawn_file_actions_adddup2(&actions, pair[1], STDOUT_FILENO)
        var words = [strdup(CommandLine.arguments[0]), strdup("serve"), nil]
        var process = pid_t()
        let code = posix_spawn(&process, "/proc/self/exe", &actions, nil, &words, environ)
        for word in words { free(word) }
        posix_spawn_file_actions_destroy(&actions)
        close(pair[1])
        var text = [UInt8](repeating: 0, count: 32)
        let count = code == 0 ? max(0, recv(pair[0], &text, text.count, 0)) : 0
        let digits = String(decoding: text[..<count], as: UTF8.self).filter(\.isNumber)
        guard !digits.isEmpty, let url = URL(string: "http://127.0.0.1:\(digits)/") else {
            stop("torture: the server did not report its port", 1)
        }
        self.url = url
    }
}
