import SwitchboardStreams
import Foundation
import Switchboard

// transfer download|upload|form URL FILE [--session curl|foundation] [--keep] [--hold]: saves the content of URL in
// FILE, or sends FILE by PUT, raw or in a form. Prints the status and the number of body bytes received. --keep keeps
// partial content for the next run. --hold waits for the end of the input before the file gets its name.
// transfer echo URL FILE [--session curl|foundation]: sends FILE by PUT, and saves the response in FILE.echo meanwhile.
// transfer session-download|session-upload URL FILE [--session curl|foundation]: the same with a URLSession of a router.
// transfer tus|registry URL FILE [--session curl|foundation] [--state FILE] [--digest D]: uploads FILE in pieces of 1 MiB.
var arguments = Arguments(words: Array(CommandLine.arguments.dropFirst()))

func usage() -> Never {
    print("usage: transfer download|upload|form URL FILE [--session curl|foundation] [--keep] [--hold]")
    print("       transfer echo|session-download|session-upload URL FILE [--session curl|foundation]")
    print("       transfer tus|registry URL FILE [--session curl|foundation] [--state FILE] [--digest D]")
    exit(64)
}

let session: any NetworkSession
switch arguments.option("--session") {
case nil: session = DefaultSession.make()
case "foundation": session = FoundationSession()
#if os(Linux)
case "curl": session = CurlSession()
#endif
default: usage()
}
let (isKept, isHeld) = (arguments.flag("--keep"), arguments.flag("--hold"))
let state = arguments.option("--state").map { URL(fileURLWithPath: $0) }
let digest = arguments.option("--digest") ?? ""
let words = arguments.words
guard words.count == 3, let url = URL(string: words[1]) else { usage() }
let file = URL(fileURLWithPath: words[2])
let router = Router<URLEndPoint>(session: session)
let patience = RequestOptions { $0.retry = RetryPolicy(maximumAttempts: 20, baseDelay: .milliseconds(20)) }

do {
    let response: NetworkResponse
    switch words[0] {
    case "download":
        response = try await router.download(URLEndPoint(.get, url), to: file, keepingPartial: isKept) { _ in
            guard isHeld else { return }
            print("whole")
            fflush(nil)
            while readLine() != nil {}
        }
    case "upload":
        response = try await router.upload(URLEndPoint(.put, url, task: .upload(FileBody(file))))
    case "form":
        let form = MultipartBody(.field("title", "a file"), .file("file", file))
        response = try await router.upload(URLEndPoint(.put, url, task: .upload(form)))
    case "echo":
        response = try await router.download(
            URLEndPoint(.put, url, task: .upload(FileBody(file))), to: file.appendingPathExtension("echo"))
    case "session-download", "session-upload":
        let isUpload = words[0] == "session-upload"
        let (status, received) = try await SessionTransfer(file: file).run(url, uploads: isUpload, by: router)
        print(status, received)
        exit(0)
    case "tus":
        // Some servers require these two.
        let tus = TusUpload(metadata: ["filename": file.lastPathComponent, "filetype": "application/octet-stream"])
        response = try await router.upload(
            URLEndPoint(.post, url), from: file, by: tus, pieceSize: 1 << 20, stateFile: state, options: patience)
    case "registry":
        response = try await router.upload(
            URLEndPoint(.post, url), from: file, by: RegistryUpload(digest: digest), pieceSize: 1 << 20,
            stateFile: state, options: patience)
    default: usage()
    }
    print(response.statusCode, response.metrics.bytesReceived)
} catch {
    FileHandle.standardError.write(Data("transfer: \(error)\n".utf8))
    exit(1)
}
