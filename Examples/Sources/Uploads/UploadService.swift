import ExampleKit
import Foundation
import Switchboard

/// Uploads values and files. The rest of the program uses only this type to reach the network.
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

    /// Sends a multipart form. Reads its files while it sends them.
    ///
    /// - Throws: A ``Failure`` that names the unreadable files, unless the form skips them.
    func send(_ form: MultipartBody, progress: TransferProgress? = nil) async throws -> Receipt {
        try await namingFiles { try await router.upload(.multipart(form), as: Receipt.self, progress: progress) }
    }

    /// Sends a file without an encoding.
    ///
    /// - Throws: A ``Failure`` that names the file if it is unreadable.
    func send(file: URL, progress: TransferProgress? = nil) async throws -> Receipt {
        try await namingFiles { try await router.upload(.file(file), as: Receipt.self, progress: progress) }
    }

    private func namingFiles(_ call: () async throws -> Receipt) async throws -> Receipt {
        do {
            return try await call()
        } catch let error as NetworkError where error.code == .unreadableFile {
            throw Failure(.noInput, error.localizedDescription)
        }
    }
}

extension NetworkManager {
    /// Creates the manager of the upload server.
    static func uploads(
        at server: URL, session: any NetworkSession = DefaultSession.shared, interceptors: [any Interceptor] = [],
        timeouts: Timeouts = .ofExamples
    ) -> NetworkManager {
        NetworkManager(
            baseURL: server, session: session, interceptors: interceptors,
            options: RequestOptions { $0.timeouts = timeouts })
    }
}
