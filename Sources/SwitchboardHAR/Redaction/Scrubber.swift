import Foundation
import Switchboard

/// Replaces known secrets wherever they appear, in any encoding.
package struct Scrubber: Sendable {
    private let mask: [UInt8]
    private let patterns: [SecretPattern]
    /// The indices of the patterns that may begin with each byte.
    private let patternsByByte: [[Int]]
    /// The base64 digits of the secrets.
    private let base64: [Data]

    package init(_ redactor: HARRedactor) {
        mask = Array(redactor.redaction.mask.utf8)
        patterns = redactor.secrets.map(SecretPattern.init)
        var byByte = Array(repeating: [Int](), count: 256)
        for (index, pattern) in patterns.enumerated() {
            for byte in pattern.firstBytes { byByte[Int(byte)].append(index) }
        }
        patternsByByte = byByte
        base64 = redactor.secrets.flatMap(Self.base64).map { Data($0.utf8) }
            .sorted { ($1.count, $0.base64EncodedString()) < ($0.count, $1.base64EncodedString()) }
    }

    package func scrubbed(_ data: Data) -> Data {
        let bytes = Array(withoutBase64(data))
        var result: [UInt8] = []
        var index = 0
        while index < bytes.count {
            let ends = patternsByByte[Int(bytes[index])].compactMap { patterns[$0].end(in: bytes, from: index) }
            if let end = ends.max() {
                result += mask
                index = end
            } else {
                result.append(bytes[index])
                index += 1
            }
        }
        return Data(result)
    }

    private func withoutBase64(_ data: Data) -> Data {
        var data = data
        for needle in base64 where data.count >= needle.count {
            guard data.range(of: needle) != nil else { continue }
            data = Data(data.pieces(around: needle).joined(separator: mask))
        }
        return data
    }

    /// Returns the base64 digits of a secret that do not depend on the text around it, in both alphabets.
    private static func base64(_ secret: String) -> [String] {
        (0..<3).flatMap { offset in
            let bytes = Data(count: offset) + Data(secret.utf8)
            let digits = String(bytes.base64EncodedString().prefix(bytes.count * 8 / 6).dropFirst([0, 2, 3][offset]))
            let other = digits.replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
            return digits.count < HARRedactor.shortest ? [] : [digits, other]
        }
    }

    package func scrubbed(_ text: String) -> String {
        let data = Data(text.utf8)
        let scrubbed = scrubbed(data)
        return scrubbed == data ? text : String(decoding: scrubbed, as: UTF8.self)
    }

    package func scrubbed(_ entry: HAR.Entry) -> HAR.Entry {
        guard !patterns.isEmpty else { return entry }
        var entry = entry
        scrub(&entry.request)
        scrub(&entry.response)
        entry.webSocketMessages = entry.webSocketMessages.map { messages in
            messages.map { message in
                var message = message
                let payload = scrubbed(message.payload)
                if payload != message.payload { message.payload = payload }
                return message
            }
        }
        return entry
    }

    private func scrub(_ request: inout HAR.Request) {
        request.url = scrubbed(request.url)
        request.queryString = HAR.Field.query(of: request.url)
        scrub(&request.headers)
        scrub(&request.cookies)
        guard let body = request.postData else { return }
        let data = scrubbed(body.data)
        if data != body.data { request.postData = HAR.PostData(data, mimeType: body.mimeType) }
        request.postData?.mimeType = scrubbed(body.mimeType)
    }

    private func scrub(_ response: inout HAR.Response) {
        response.redirectURL = scrubbed(response.redirectURL)
        scrub(&response.headers)
        scrub(&response.cookies)
        if var trailers = response.trailers {
            scrub(&trailers)
            response.trailers = trailers
        }
        let content = response.content
        let data = scrubbed(content.data)
        if data != content.data {
            response.content = HAR.Content(data, mimeType: content.mimeType, size: content.size)
        }
        response.content.mimeType = scrubbed(content.mimeType)
    }

    private func scrub(_ fields: inout [HAR.Field]) {
        for index in fields.indices { fields[index].value = scrubbed(fields[index].value) }
    }

    private func scrub(_ cookies: inout [HAR.Cookie]) {
        for index in cookies.indices {
            cookies[index].value = scrubbed(cookies[index].value)
            cookies[index].path = cookies[index].path.map(scrubbed)
        }
    }
}
