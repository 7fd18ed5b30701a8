import Foundation
import Switchboard

/// The core and the creation extension of [tus 1.0.0](https://tus.io/protocols/resumable-upload).
public struct TusUpload: UploadFlow {
    /// What the server is told about the upload: file name, type and the like. Keys hold neither blanks nor commas.
    public let metadata: [String: String]

    /// Makes the flow.
    public init(metadata: [String: String] = [:]) {
        self.metadata = metadata
    }

    /// POST with the length.
    public func open(_ request: inout NetworkRequest, length: Int64) {
        request.method = .post
        request.headers["Tus-Resumable"] = "1.0.0"
        request.headers["Upload-Length"] = String(length)
        guard !metadata.isEmpty else { return }
        request.headers["Upload-Metadata"] = metadata.sorted { $0.key < $1.key }
            .map { "\($0.key) \(Data($0.value.utf8).base64EncodedString())" }.joined(separator: ",")
    }

    /// HEAD.
    public func ask(_ request: inout NetworkRequest) {
        request.method = .head
        request.headers["Tus-Resumable"] = "1.0.0"
    }

    /// PATCH from the offset on.
    public func send(_ request: inout NetworkRequest, _ piece: Range<Int64>, of length: Int64) {
        request.method = .patch
        request.headers["Tus-Resumable"] = "1.0.0"
        request.headers["Upload-Offset"] = String(piece.lowerBound)
        request.headers["Content-Type"] = "application/offset+octet-stream"
    }

    /// The field `Upload-Offset`; 0 for the answer that opened it.
    public func offset(after response: NetworkResponse, sent: Int64?) -> Int64? {
        guard let value = response.headers["Upload-Offset"] else { return response.statusCode == 201 ? 0 : nil }
        return Int64(digits: value)
    }
}
