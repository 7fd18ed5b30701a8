import Foundation
import Switchboard

/// Uploads a file in pieces by the core and the creation extension of
/// [tus 1.0.0](https://tus.io/protocols/resumable-upload): `router.upload(file, to: .addFile, by: .tus)`.
public struct TusUpload: UploadFlow {
    /// The metadata of the upload, such as file name and type. Keys must not contain blanks or commas.
    public let metadata: [String: String]

    /// Creates the flow.
    public init(metadata: [String: String] = [:]) {
        self.metadata = metadata
    }

    /// Sets POST with the length and the metadata.
    public func open(_ request: inout NetworkRequest, length: Int64) {
        request.method = .post
        request.headers["Tus-Resumable"] = "1.0.0"
        request.headers["Upload-Length"] = String(length)
        guard !metadata.isEmpty else { return }
        request.headers["Upload-Metadata"] = metadata.sorted { $0.key < $1.key }
            .map { "\($0.key) \(Data($0.value.utf8).base64EncodedString())" }.joined(separator: ",")
    }

    /// Sets HEAD.
    public func ask(_ request: inout NetworkRequest) {
        request.method = .head
        request.headers["Tus-Resumable"] = "1.0.0"
    }

    /// Sets PATCH with the piece's offset.
    public func send(_ request: inout NetworkRequest, _ piece: Range<Int64>, of length: Int64) {
        request.method = .patch
        request.headers["Tus-Resumable"] = "1.0.0"
        request.headers["Upload-Offset"] = String(piece.lowerBound)
        request.headers["Content-Type"] = "application/offset+octet-stream"
    }

    /// Returns the field `Upload-Offset`. Without it, returns 0 for the response that opened the upload, and nil
    /// otherwise.
    public func offset(after response: NetworkResponse, sent: Int64?) -> Int64? {
        guard let value = response.headers["Upload-Offset"] else { return response.statusCode == 201 ? 0 : nil }
        return Int64(digits: value)
    }
}
