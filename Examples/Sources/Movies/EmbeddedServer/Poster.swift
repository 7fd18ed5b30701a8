import ExampleKit
import Foundation
import Switchboard
import SwitchboardMocks

/// The server's pictures: a different sky for each movie, as a bitmap, which every viewer opens.
nonisolated enum Poster {
    private static let width = 342
    private static let height = 513

    /// Returns the response to a request for a picture or a range of it. Nil if the path names no picture.
    static func response(to request: RecordedRequest) -> MockResponse? {
        guard request.method == .get, request.path.hasPrefix("/t/p/w342/poster"), request.path.hasSuffix(".bmp"),
            let id = UInt16(request.path.dropFirst(16).dropLast(4))
        else { return nil }
        let bytes = bitmap(of: Int(id))
        let fields: HTTPHeaders = ["Content-Type": "image/bmp", "ETag": "\"poster-\(id)\"", "Accept-Ranges": "bytes"]
        guard let first = firstByte(of: request, tag: "\"poster-\(id)\""), bytes.indices.contains(first)
        else {
            return .data(bytes, headers: fields)
        }
        let range = ContentRange(Int64(first)...Int64(bytes.count - 1), of: Int64(bytes.count))
        return .data(
            bytes[first...], statusCode: 206,
            headers: fields.merging(["Content-Range": range.description]))
    }

    private static func firstByte(of request: RecordedRequest, tag: String) -> Int? {
        guard let range = request.headers["Range"], range.hasPrefix("bytes="), range.hasSuffix("-"),
            request.headers["If-Range"] ?? tag == tag
        else { return nil }
        return Int(range.dropFirst(6).dropLast())
    }

    private static func bitmap(of id: Int) -> Data {
        Bitmap.bytes(width: width, height: height) { column, row in
            let light = row * 160 / height
            let red = 30 + (column * 60 / width + id * 53) % 200
            return (red, green: 40 + (light / 2 + id * 11) % 180, blue: 60 + (light + id * 37) % 160)
        }
    }
}
