import Foundation
import Switchboard
import SwitchboardTestSupport
import Testing

@testable import SwitchboardInspector

/// A browser's view of an inspector.
struct Page {
    struct Reply {
        let status: Int
        let head: String
        let body: String

        init(_ text: String) {
            let end = text.range(of: "\r\n\r\n")
            head = String(text[..<(end?.lowerBound ?? text.endIndex)])
            body = String(text[(end?.upperBound ?? text.endIndex)...])
            status = Int(head.split(separator: " ").dropFirst().first ?? "") ?? 0
        }

        func object() throws -> [String: Any] {
            try #require(try JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: Any])
        }
    }

    let port: Int
    let key: String

    init(_ inspector: NetworkInspector) throws {
        let url = try #require(inspector.url)
        port = try #require(url.port)
        key = try #require(URLComponents(url: url, resolvingAgainstBaseURL: false)?.queryItems?.first?.value)
    }

    var cookie: String { "Cookie: switchboard-inspector-\(port)=\(key)" }
    var host: String { "Host: 127.0.0.1:\(port)" }

    /// Sends a request with these fields and reads the reply to its end.
    func send(_ line: String, _ fields: [String]) throws -> Reply {
        Reply(try open(line, fields).readAll().text)
    }

    /// Sends a request with the key.
    func send(_ line: String) throws -> Reply {
        try send(line, [host, cookie])
    }

    func get(_ path: String) throws -> Reply {
        try send("GET \(path)")
    }

    /// Sends a request with these fields.
    func open(_ line: String, _ fields: [String]) throws -> RawClient {
        let client = try RawClient(port: port)
        client.send(([line + " HTTP/1.1"] + fields).joined(separator: "\r\n") + "\r\n\r\n")
        return client
    }

    /// Opens the event stream, and reads its head and the first event.
    func openStream() throws -> RawClient {
        let client = try open("GET /calls", [host, cookie])
        _ = client.read(through: "event: reset\ndata: {}\n\n")
        return client
    }

    func detail(_ id: Int) throws -> [String: Any] {
        let reply = try get("/calls/\(id)")
        try #require(reply.status == 200, "\(reply.body)")
        return try reply.object()
    }
}

extension [String: Any] {
    func list(_ name: String) throws -> [[String: Any]] {
        try #require(self[name] as? [[String: Any]], "\(name) is missing in \(self)")
    }

    func object(_ name: String) throws -> [String: Any] {
        try #require(self[name] as? [String: Any], "\(name) is missing in \(self)")
    }

    func text(_ name: String) -> String? { self[name] as? String }
    func number(_ name: String) -> Double? { (self[name] as? NSNumber)?.doubleValue }
}

extension NetworkInspector {
    var calls: [InspectedCall] { server?.calls.all ?? [] }
    var connectionCount: Int { server?.connectionCount ?? 0 }
}

extension Router<URLEndPoint> {
    func data(from url: URL) async throws -> Data {
        try await response(for: URLEndPoint(.get, url)).body
    }
}
