import Foundation
import Switchboard
import SwitchboardTestSupport
import Testing

/// Endpoints of hostile text, from ten seeds that run in parallel.
struct RequestBuilderFuzzTests {
    private static let bases = [
        "https://h.example", "https://h.example/", "http://u:p@h.example:8080/api/v1", "https://h.example/a/?k=1",
        "https://h.example/#f",
    ]

    @Test(
        "hostile endpoints build a request or throw, and never trap",
        .requirement("S1.2"),
        arguments: UInt64(0)..<4)
    func requestOrError(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var made = 0
        var refused = 0
        var wrong: [String] = []
        let rounds = cases(2_000)
        for round in 0..<rounds {
            let endPoint = hostileEndPoint(using: &random)
            do throws(NetworkError) {
                let request = try RequestBuilder().makeRequest(for: endPoint.value)
                made += 1
                if let fault = fault(of: request, endPoint) { wrong.append("\(seed)/\(round): \(fault)") }
            } catch {
                refused += 1
                // The error has a code of that kind, and a one-line text with the endpoint.
                if !error.code.isKind(of: .invalidRequest) || error.description.contains(where: \.isNewline)
                    || error.endPointName == nil
                {
                    wrong.append("\(seed)/\(round): \(error)")
                }
            }
        }
        #expect(wrong.isEmpty)
        // Neither outcome is rare: the fuzz tests both.
        #expect(made > rounds / 10 && refused > rounds / 10)
    }

    private struct Hostile {
        var value: EndPointFixture
        var host: String?
        var query: [(String, String)]
    }

    private func hostileEndPoint(using random: inout SeededGenerator) -> Hostile {
        let known = !random.oneIn(8)
        let base =
            known
            ? Self.bases.randomElement(using: &random)! : (random.oneIn(2) ? "http://" : "") + random.text(upTo: 12)
        let query = (0..<Int.random(in: 0...3, using: &random)).map { _ in (random.text(upTo: 5), random.text(upTo: 8))
        }
        let parameters = Parameters(query.map { (name: $0.0, value: $0.1) })
        var endPoint = EndPointFixture(base: base)
        endPoint.path = random.oneIn(4) ? random.text(upTo: 16) : random.printableText(upTo: 16)
        endPoint.httpMethod =
            random.oneIn(20) ? HTTPMethod(rawValue: random.text(upTo: 4)) : random.oneIn(2) ? .post : .get
        if random.oneIn(3) {
            endPoint.headers.add(random.oneIn(10) ? random.text(upTo: 6) : random.word(), random.text(upTo: 8))
        }
        endPoint.task = .requestParametersAndHeaders(
            bodyParameters: endPoint.httpMethod == .get ? nil : parameters,
            bodyEncoding: random.oneIn(2) ? .formEncoding : .jsonEncoding,
            urlParameters: parameters,
            additionHeaders: random.oneIn(4) ? [random.word(): random.printableText(upTo: 6)] : nil)
        return Hostile(value: endPoint, host: known ? "h.example" : nil, query: query)
    }

    /// Returns the fault of a built request, or nil.
    private func fault(of request: NetworkRequest, _ endPoint: Hostile) -> String? {
        guard let url = request.url else { return "no URL" }
        let text = url.absoluteString
        guard text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            return "a byte that may not stand in a URL: \(text.debugDescription)"
        }
        guard let parts = URLComponents(string: text) else { return "no URL for Foundation: \(text)" }
        if let host = endPoint.host, parts.host != host { return "another host: \(text)" }
        let items = (parts.queryItems ?? []).suffix(endPoint.query.count)
        guard items.map({ [$0.name, $0.value ?? ""] }) == endPoint.query.map({ [$0.0, $0.1] }) else {
            return "another query: \(text)"
        }
        let head = [request.method.rawValue] + request.headers.flatMap { [$0.name, $0.value] }
        guard head.allSatisfy({ $0.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 9 } }) else {
            return "a control character: \(head)"
        }
        return nil
    }
}
