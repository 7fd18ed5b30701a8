import Foundation
import Movies
import Switchboard

/// Transfers one large body through a session: from a file, into a file, or in both directions at once.
///
/// `--kind upload|download|echo --session NAME --url URL [--file FILE] [--to FILE]`
struct Transfer {
    private let kind: Kind
    private let session: any NetworkSession
    private let url: URL
    private let file: URL
    private let destination: URL

    enum Kind: String {
        case upload, download, echo
    }

    init(_ arguments: Arguments) throws {
        guard let kind = Kind(rawValue: try arguments.text("kind")) else {
            throw UsageError(text: "unknown --kind: use upload, download or echo")
        }
        self.kind = kind
        url = try arguments.url("url")
        session = try Sessions.make(
            arguments["session"] ?? "curl",
            PeerSettings(connections: 1, authority: nil, isHTTP1: true))
        file = kind == .download ? url : try arguments.file("file")
        destination = kind == .download ? try arguments.file("to") : url
    }

    struct Report: Encodable {
        /// The bytes that arrived, at the server for an upload and here otherwise.
        let bytes: Int64
        let seconds: Double
        let cpuSeconds: Double
        let peakKiB: Int
    }

    func measure() async throws -> Report {
        let cpu = ProcessUsage.cpuMicroseconds
        let start = ContinuousClock.now
        let bytes: Int64 =
            switch kind {
            case .upload: try await upload()
            case .download: try await download()
            case .echo: try await echo()
            }
        return Report(
            bytes: bytes, seconds: (.now - start) / .seconds(1),
            cpuSeconds: (ProcessUsage.cpuMicroseconds - cpu) / 1e6, peakKiB: ProcessUsage.peakResidentKiB)
    }

    /// Uploads the file. Returns the number of bytes that the server reports.
    private func upload() async throws -> Int64 {
        let body = FileBody(file, contentType: "application/octet-stream")
        let response = try await session.send(NetworkRequest(.put, url, body: body))
        guard response.statusCode == 200, let bytes = Int64(response.text) else {
            throw UnexpectedAnswer.status(response.statusCode)
        }
        return bytes
    }

    private func download() async throws -> Int64 {
        let router = Router<URLEndPoint>(session: session)
        return try await router.download(URLEndPoint(.get, url), to: destination).metrics.bytesReceived
    }

    private func echo() async throws -> Int64 {
        let size = try file.resourceValues(forKeys: [.fileSizeKey]).fileSize.map(Int64.init)
        let body = StreamBody(length: size, contentType: "application/octet-stream", isReplayable: true) { [file] in
            let reader = try FileReader(file)
            return HTTPBodyStream { try reader.next() }
        }
        var request = NetworkRequest(.put, url, body: body)
        request.options.streamsResponse = true
        let response = try await session.send(request)
        guard response.statusCode == 200 else { throw UnexpectedAnswer.status(response.statusCode) }
        var bytes: Int64 = 0
        for try await chunk in response.bytes { bytes += Int64(chunk.count) }
        return bytes
    }
}
