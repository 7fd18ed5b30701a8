import Foundation
import Switchboard

extension MockResponse {
    /// This response with its body as gzip ([RFC 1952](https://www.rfc-editor.org/rfc/rfc1952)), uncompressed inside,
    /// and `Content-Encoding: gzip`. A stub, which hands out what a session would, gives the body as it was.
    public func gzipped() -> MockResponse {
        packed(Gzip.stored(body), .gzip(body))
    }

    /// A 200 of at least so many zeros as gzip, about a thousandth of that on the wire. A session's limits refuse it
    /// with ``/Switchboard/NetworkError/Code/responseTooLarge``, and so does a stub when it passes
    /// ``/Switchboard/ResponseLimits/responseBody``.
    public static func gzipBomb(_ count: Int = 1 << 30) -> MockResponse {
        MockResponse(headers: ["Content-Type": "application/octet-stream"])
            .packed(Gzip.zeros(atLeast: count), .zeros(max(1, count)))
    }

    /// This response with a `Content-Encoding` that its body does not have.
    ///
    /// A stub throws ``/Switchboard/NetworkError/Code/cannotDecodeResponse`` for `gzip`, `deflate`, `br` and `zstd`. It
    /// delivers the body as it is for any other name, as ``/Switchboard/CurlSession`` does.
    public func mislabelled(as encoding: String = "gzip") -> MockResponse {
        let isKnown = ["gzip", "x-gzip", "deflate", "br", "zstd"].contains(encoding.lowercased())
        return with {
            $0.headers.set("Content-Encoding", encoding)
            $0.packing = isKnown ? .mislabelled : nil
        }
    }

    private func packed(_ bytes: Data, _ packing: Packing) -> MockResponse {
        with {
            $0.headers.set("Content-Encoding", "gzip")
            $0.body = bytes
            $0.packing = packing
        }
    }
}
