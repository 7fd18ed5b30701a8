import ExampleKit
import Foundation
import Switchboard

/// Uploads, for the rest of the program: the only place that talks to the network.
struct UploadService: Sendable {
    private let router: Router<UploadApi>

    init(manager: NetworkManager) {
        router = manager.router(for: UploadApi.self)
    }

    func send(json parameters: Parameters) async throws -> Receipt {
        try await router.request(.json(parameters), as: Receipt.self)
    }

    func send(form parameters: Parameters) async throws -> Receipt {
        try await router.request(.form(parameters), as: Receipt.self)
    }

    /// Sends a form with files, which are read while they are sent.
    ///
    /// - Throws: A ``Failure`` that names the files that cannot be read, unless the form leaves those out.
    func send(_ form: MultipartBody, progress: TransferProgress? = nil) async throws -> Receipt {
        try await namingFiles { try await router.upload(.multipart(form), as: Receipt.self, progress: progress) }
    }

    /// Sends a file as it is.
    ///
    /// - Throws: A ``Failure`` that names a file that cannot be read.
    func send(file: URL, progress: TransferProgress? = nil) async throws -> Receipt {
        try await namingFiles { try await router.upload(.file(file), as: Receipt.self, progress: progress) }
    }

    private func namingFiles(_ call: () async throws -> Receipt) async throws -> Receipt {
        do {
            return try await call()
        } catch let error as NetworkError where error.code == .unreadableFile {
            throw Failure(.noInput, error.summary)
        }
    }
}

extension NetworkManager {
    /// The client of the server that takes uploads.
    static func uploads(
        at server: URL, session: any NetworkSession = DefaultSession.shared, interceptors: [any Interceptor] = [],
        timeouts: Timeouts = .ofExamples
    ) -> NetworkManager {
        NetworkManager(
            servers: [.production: server.absoluteString], session: session, interceptors: interceptors,
            options: RequestOptions { $0.timeouts = timeouts })
    }
}
