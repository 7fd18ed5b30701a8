import Foundation
import Switchboard

/// A call of a router that is canceled.
enum CancelledCall: CaseIterable {
    case plain, slow, stalled
    case stream, streamStalled
    case download, downloadStalled, downloadTask
    case upload, uploadFromMemory, uploadSlowly

    /// Whether the call reports progress and can be canceled through it.
    var hasProgress: Bool {
        switch self {
        case .download, .downloadStalled, .upload, .uploadFromMemory, .uploadSlowly: true
        case .plain, .slow, .stalled, .stream, .streamStalled, .downloadTask: false
        }
    }

    /// Makes the call and checks every received byte.
    func make(_ router: Router<URLEndPoint>, _ stage: CancelStage, _ progress: TransferProgress?) async throws {
        switch self {
        case .plain: try await answer("small/7", "answer 7\n", router, stage)
        case .slow: try await answer("slow/3/7", "answer 7\n", router, stage)
        case .stalled: try await answer("stall", "no answer", router, stage)
        case .stream: try await stream("large/1000000", router, stage)
        case .streamStalled: try await stream("stall-inside/200000", router, stage)
        case .download: try await download("large/1000000", router, stage, progress)
        case .downloadStalled: try await download("stall-inside/200000", router, stage, progress)
        case .downloadTask: try await downloadTask("large/1000000", router, stage)
        case .upload: try await upload(StreamBody { Stage.chunks(300_000) }, "take", router, stage, progress)
        case .uploadFromMemory:
            try await upload(DataBody(Pattern.data(at: 0, count: 300_000)), "take", router, stage, progress)
        case .uploadSlowly:
            try await upload(StreamBody(length: 300_000) { Stage.chunks(300_000) }, "take/2", router, stage, progress)
        }
    }

    private func answer(
        _ path: String, _ text: String, _ router: Router<URLEndPoint>, _ stage: CancelStage
    ) async throws {
        let response = try await router.response(for: URLEndPoint(.get, stage.url(path)))
        try check(response.text == text, "\(path): \(response.text)")
    }

    private func stream(_ path: String, _ router: Router<URLEndPoint>, _ stage: CancelStage) async throws {
        let response = try await router.streamedResponse(for: URLEndPoint(.get, stage.url(path)))
        var position = 0
        for try await chunk in response.bytes {
            try check(Pattern.matches(chunk, at: position), "\(path): wrong bytes from \(position) on")
            position += chunk.count
        }
        try check(position == 1_000_000, "\(path): received \(position) bytes")
    }

    private func download(
        _ path: String, _ router: Router<URLEndPoint>, _ stage: CancelStage, _ progress: TransferProgress?
    ) async throws {
        try await stage.withFile { file in
            try await router.download(URLEndPoint(.get, stage.url(path)), to: file, progress: progress)
        }
    }

    private func downloadTask(_ path: String, _ router: Router<URLEndPoint>, _ stage: CancelStage) async throws {
        try await stage.withFile { file in
            _ = try await router.response(for: URLEndPoint(.get, stage.url(path), task: .download(to: file)))
        }
    }

    private func upload(
        _ body: any HTTPBody, _ path: String, _ router: Router<URLEndPoint>, _ stage: CancelStage,
        _ progress: TransferProgress?
    ) async throws {
        let endPoint = URLEndPoint(.put, stage.url(path), task: .upload(body))
        let response = try await router.upload(endPoint, progress: progress)
        try check(response.text == "300000 \(Pattern.sum(300_000))", "\(path): \(response.text)")
    }
}
