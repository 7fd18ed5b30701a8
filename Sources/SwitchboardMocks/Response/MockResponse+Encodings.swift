import Foundation
import Switchboard

extension MockResponse {
    /// Returns this response with its body as gzip ([RFC 1952](https://www.rfc-editor.org/rfc/rfc1952)), stored without
    /// compression, and with `Content-Encoding: gzip`. A stub delivers the body decoded, as a session does.
    public func gzipped() -> MockResponse {
        packed(Gzip.stored(body), .gzip(body))
    }

    /// Creates a 200 whose gzip body expands to at least `count` zero bytes, from about a thousandth of that on the
    /// wire. A session refuses it with ``/Switchboard/NetworkError/Code/responseTooLarge`` when it exceeds
    /// ``/Switchboard/ResponseLimits/responseBody``, and so does a stub.
    public static func gzipBomb(_ count: Int = 1 << 30) -> MockResponse {
        MockResponse(headers: ["Content-Type": "application/octet-stream"])
            .packed(Gzip.zeros(atLeast: count), .zeros(max(1, count)))
    }

    /// Returns this response with a `Content-Encoding` that its body does not have.
    ///
    /// A stub throws ``/Switchboard/NetworkError/Code/cannotDecodeResponse`` for `gzip`, `deflate`, `br` and `zstd`.
    /// For any other name it delivers the body unchanged, as ``/Switchboard/CurlSession`` does.
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
