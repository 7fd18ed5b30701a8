import Foundation
import Switchboard
import SwitchboardMocks

/// The pictures of the server: a sky of its own for each movie, as a bitmap, which every viewer shows.
enum Poster {
    private static let width = 342
    private static let height = 513

    /// The answer to a request for a picture, a range of it included; nil for a path that is none.
    static func response(to request: RecordedRequest) -> MockResponse? {
        guard request.method == .get, request.path.hasPrefix("/t/p/w342/poster"), request.path.hasSuffix(".bmp"),
            let id = Int(request.path.dropFirst(16).dropLast(4))
        else { return nil }
        let bytes = bitmap(of: id)
        let fields: HTTPHeaders = ["Content-Type": "image/bmp", "ETag": "\"poster-\(id)\"", "Accept-Ranges": "bytes"]
        guard let first = firstByte(of: request, tag: "\"poster-\(id)\""), first < bytes.count else {
            return .data(bytes, headers: fields)
        }
        let range = ContentRange(Int64(first)...Int64(bytes.count - 1), of: Int64(bytes.count))
        return .data(
            bytes[first...], status: 206,
            headers: fields.merging(["Content-Range": range.description]))
    }

    private static func firstByte(of request: RecordedRequest, tag: String) -> Int? {
        guard let range = request.headers["Range"], range.hasPrefix("bytes="), range.hasSuffix("-"),
            request.headers["If-Range"] ?? tag == tag
        else { return nil }
        return Int(range.dropFirst(6).dropLast())
    }

    /// Rows from the bottom up, blue, green and red of each pixel, each row filled up to four bytes.
    private static func bitmap(of id: Int) -> Data {
        let stride = (width * 3 + 3) / 4 * 4
        var bytes = Data()
        func add(_ number: Int, bytes count: Int) {
            for index in 0..<count { bytes.append(UInt8(truncatingIfNeeded: number >> (8 * index))) }
        }
        bytes += Data("BM".utf8)
        add(54 + stride * height, bytes: 4)  // the file
        add(0, bytes: 4)
        add(54, bytes: 4)  // where the pixels begin
        add(40, bytes: 4)  // the size of what follows
        add(width, bytes: 4)
        add(height, bytes: 4)
        add(1, bytes: 2)
        add(24, bytes: 2)  // bits for a pixel
        for size in [0, stride * height, 2_835, 2_835, 0, 0] { add(size, bytes: 4) }
        for row in 0..<height {
            for column in 0..<width {
                let light = row * 160 / height
                bytes.append(UInt8(60 + (light + id * 37) % 160))
                bytes.append(UInt8(40 + (light / 2 + id * 11) % 180))
                bytes.append(UInt8(30 + (column * 60 / width + id * 53) % 200))
            }
            bytes += Data(count: stride - width * 3)
        }
        return bytes
    }
}
