import Foundation
import Switchboard
import SwitchboardCache

/// The drawn plan of one call.
struct Plan: Sendable {
    let method: String
    let path: String
    let language: String?
    let user: String
    let directives: String?
    let range: String?
    /// The seconds by which the clock advances before the call.
    let pause: Double

    init(_ draw: inout SeededGenerator, isFake: Bool) {
        let isUnsafe = isFake && draw.isOneIn(16)
        method = isUnsafe ? draw.one(of: ["POST", "PUT", "DELETE"]) : draw.isOneIn(10) ? "HEAD" : "GET"
        path =
            isFake
            ? "\(draw.next() % 24)" : "\(draw.one(of: ["none", "short", "long", "past", "max"]))/\(draw.next() % 4)"
        language = draw.one(of: ["de", "fr", nil])
        user = draw.isOneIn(5) ? "ben" : "anna"
        let all = [
            "no-cache", "no-store", "only-if-cached", "max-age=5", "max-age=60", "max-stale=30", "max-stale",
            "min-fresh=5",
        ]
        directives = draw.isOneIn(5) ? draw.one(of: all) : nil
        range = method == "GET" && draw.isOneIn(8) ? draw.one(of: ["bytes=0-9", "bytes=10-", "bytes=-5"]) : nil
        pause = draw.one(of: [0, 0, 0, 0, 0, 1, 1, 2, 5, 20, 60])
    }

    func endPoint(at base: String, _ number: Int, _ time: Date?, _ monitors: [any EventMonitor]) -> URLEndPoint {
        // The cache compares neither of these two fields.
        var headers: HTTPHeaders = ["X-Request-ID": "\(number)", "X-User": user]
        if let time { headers.add("X-Correlation-ID", "\(Int(time.timeIntervalSince1970))") }
        if let language { headers.add("Accept-Language", language) }
        if let directives { headers.add("Cache-Control", directives) }
        if let range { headers.add("Range", range) }
        let url = URL(string: base + path) ?? URL(fileURLWithPath: "/")
        let isSafe = ["GET", "HEAD"].contains(method)
        return URLEndPoint(
            HTTPMethod(rawValue: method), url, task: isSafe ? .request : .requestBody(DataBody(Data("x".utf8))),
            headers: headers, options: RequestOptions { $0.monitors = monitors })
    }
}
