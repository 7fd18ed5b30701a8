import Foundation
import Glibc
import Switchboard
import SwitchboardMocks
import Synchronization

/// The server, in a separate process, so that only the client's calls fail.
enum Server {
    /// Starts this program again as the server, which ends with this process.
    static func start() -> URL {
        guard let port = Spawn.server()?.ports.first, let url = URL(string: "http://127.0.0.1:\(port)/") else {
            stop("torture: the server did not report its port", 1)
        }
        return url
    }

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
