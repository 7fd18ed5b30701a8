import Foundation
import Switchboard
import SwitchboardURLSession

/// Moves a file with a URLSession of a router: a delegate writes the pieces of a download.
final class SessionTransfer: NSObject, URLSessionDataDelegate {
    private let file: URL
    private let (ends, end) = AsyncStream<(any Error)?>.makeStream()
    // Only the queue of the delegate uses these two, and `run` when that has ended.
    private nonisolated(unsafe) var output: FileHandle?
    private nonisolated(unsafe) var received: Int64 = 0

    init(file: URL) {
        self.file = file
    }

    /// Downloads the file, or uploads it. Returns the status and the number of received bytes.
    func run(_ url: URL, uploads: Bool, by router: Router<URLEndPoint>) async throws -> (status: Int, received: Int64) {
        let session = router.urlSession(delegate: self)
        var request = URLRequest(url: url)
        let task: URLSessionTask
        if uploads {
            request.httpMethod = "PUT"
            task = session.uploadTask(with: request, fromFile: file)
        } else {
            try Data().write(to: file)
            output = try FileHandle(forWritingTo: file)
            task = session.dataTask(with: request)
        }
        task.resume()
        for await error in ends {
            if let error { throw error }
            break
        }
        try output?.close()
        return ((task.response as? HTTPURLResponse)?.statusCode ?? 0, received)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        received += Int64(data.count)
        output?.write(data)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        end.yield(error)
    }
}
