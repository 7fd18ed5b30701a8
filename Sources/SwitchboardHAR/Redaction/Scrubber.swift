import Foundation
import Switchboard

/// Replaces known secrets wherever they appear, in any encoding.
package struct Scrubber: Sendable {
    private let mask: [UInt8]
    private let tree: SecretTree

    package init(_ redactor: HARRedactor) {
        mask = Array(redactor.redaction.mask.utf8)
        tree = SecretTree(Array(redactor.secrets) + redactor.secrets.flatMap(Self.base64))
    }

    package func scrubbed(_ data: Data) -> Data {
        var steps = 0
        return scrubbed(data, steps: &steps)
    }

    /// Replaces the secrets in bytes. Adds the number of compared characters to `steps`.
    func scrubbed(_ data: Data, steps: inout Int) -> Data {
        let bytes = Array(data)
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var index = 0
        while index < bytes.count {
            if let end = tree.end(in: bytes, from: index, steps: &steps) {
                result += mask
                index = end
            } else {
                result.append(bytes[index])
                index += 1
            }
        }
        return Data(result)
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
        guard !tree.isEmpty else { return entry }
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
