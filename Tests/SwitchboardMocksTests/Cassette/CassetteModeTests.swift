import Foundation
import Switchboard
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct CassetteModeTests {
    private let one = NetworkRequest(text: "https://h.example/one?page=1")
    private let two = NetworkRequest(text: "https://h.example/two")

    @Test("a recording of a server is played without the server")
    func recordAndPlay() async throws {
        try await withFile { file in
            let server = try MockServer { request in
                request.path == "/made"
                    ? .json(#"{"id":7}"#, statusCode: 201, headers: ["X-Tag": "a", "x-tag": "b"])
                    : .text("é \"text\"\r\n\u{1F30D}", headers: ["ETag": "\"1\""]).chunked(3)
            }
            let base = server.url.absoluteString
            let requests = [
                NetworkRequest(text: base + "/read?page=1&page=2"),
                NetworkRequest(.post, text: base + "/made", body: JSONBody(["title": "x"])),
                NetworkRequest(.head, text: base + "/read"),
            ]
            let live = try await Cassette(file: file, mode: .recordMissing).run { cassette in
                var responses: [NetworkResponse] = []
                for request in requests { responses.append(try await cassette.send(request)) }
                return responses
            }
            server.stop()
            try await Cassette(file: file, mode: .replay, recording: NoNetwork()).run { cassette in
                for (request, live) in zip(requests, live) {
                    let played = try await cassette.send(request)
                    #expect(played.statusCode == live.statusCode)
                    #expect(played.headers == live.headers)
                    #expect(played.body == live.body)
                    #expect(played.url == live.url)
                    #expect(played.request?.id == request.id)
                    #expect(played.metrics.protocolVersion == live.metrics.protocolVersion)
                    #expect(played.metrics.bytesReceived == live.metrics.bytesReceived)
                }
            }
            #expect(server.requests.count == 3)
        }
    }

    @Test("a missing file is an error that says how to record it", arguments: [Cassette.Mode.replay, .strict])
    func missingFile(mode: Cassette.Mode) async throws {
        try await withFile { file in
            let error = #expect(throws: NetworkError.self) { try Cassette.playing(file, mode: mode) }
            #expect(error?.code == .cassetteFault)
            #expect(error?.reason == "there is no cassette \(file.path); record it with the mode .recordMissing")
        }
    }

    @Test("an entry answers once unless entries repeat")
    func repeats() async throws {
        try await withFile { file in
            let answers = StubSession(.text("1"), .text("2"))
            try await Cassette(file: file, mode: .recordMissing, recording: answers).run { cassette in
                for _ in 0..<2 { _ = try await cassette.send(one) }
            }
            let once = try Cassette.playing(file)
            let repeating = try Cassette.playing(file, repeats: true)
            var texts: [String] = []
            for cassette in [once, once, repeating, repeating, repeating] {
                texts.append(try await cassette.send(one).text)
            }
            #expect(texts == ["1", "2", "1", "2", "2"])
            #expect(once.faults.isEmpty)
            let error = await #expect(throws: NetworkError.self) { try await once.send(one) }
            #expect(error?.code == .unmatchedRequest)
            #expect(error?.reason?.contains("entry 1, GET https://h.example/one?page=1: used up") == true)
            #expect(repeating.faults.isEmpty)
        }
    }

    @Test("an exact entry repeats before one that matches by its mask")
    func repeatedExactMatch() async throws {
        try await withFile { file in
            let milk = NetworkRequest(text: "https://h.example/one?q=milk")
            let masked = NetworkRequest(text: "https://h.example/one?q=REDACTED")
            try await Cassette.recording([milk, masked], in: file) { .text($0.query ?? "") }
            let cassette = try Cassette.playing(file, repeats: true)
            for _ in 0..<3 { #expect(try await cassette.send(milk).text == "q=milk") }
            #expect(try await cassette.send(NetworkRequest(text: "https://h.example/one?q=eggs")).text == "q=REDACTED")
            #expect(cassette.faults.isEmpty)
        }
    }

    @Test("recordMissing plays stored entries and records missing ones")
    func recordMissing() async throws {
        try await withFile { file in
            try await Cassette.recording([one, two], in: file) { _ in .text("old") }
            let session = StubSession { _ in .text("new") }
            let three = NetworkRequest(text: "https://h.example/three")
            let cassette = try Cassette(file: file, mode: .recordMissing, recording: session)
            #expect(try await cassette.send(one).text == "old")
            #expect(try await cassette.send(three).text == "new")
            #expect(try await cassette.send(one).text == "new")
            #expect(session.requests.count == 2)
            #expect(cassette.faults.isEmpty)
            try cassette.save()
            let archive = try Archive(file)
            #expect(archive.urls.map { $0.suffix(4) } == ["ge=1", "/two", "hree", "ge=1"])
            #expect((0..<4).map { archive.text("response.content.text", of: $0) } == ["old", "old", "new", "new"])
        }
    }

    @Test("rewrite records everything again and plays nothing")
    func rewrite() async throws {
        try await withFile { file in
            try await Cassette.recording([one, two], in: file) { _ in .text("old") }
            let new = try await Cassette.recording([two], in: file, mode: .rewrite) { _ in .text("new") }
            #expect(new.map(\.text) == ["new"])
            let archive = try Archive(file)
            #expect(archive.urls == ["https://h.example/two"])
            #expect(archive.text("response.content.text") == "new")
            try await Cassette.recording([], in: file, mode: .rewrite)
            #expect(try Archive(file).text == archive.text)
        }
    }

    @Test("strict requires the recorded order")
    func strict() async throws {
        try await withFile { file in
            try await Cassette.recording([one, two], in: file)
            let ordered = try Cassette.playing(file, mode: .strict)
            for request in [one, two] { _ = try await ordered.send(request) }
            #expect(ordered.faults.isEmpty)

            let turned = try Cassette.playing(file, mode: .strict)
            let error = await #expect(throws: NetworkError.self) { try await turned.send(two) }
            #expect(error?.code == .unmatchedRequest)
            let fault = """
                cassette tape.har: entry 2 was asked for out of order, GET https://h.example/two
                  next is entry 1, GET https://h.example/one?page=1
                """
            #expect(error?.reason == fault)
            _ = try await turned.send(one)
            #expect(
                turned.faults == [fault, "cassette tape.har: nobody requested entry 2 of 2, GET https://h.example/two"])

            let free = try Cassette.playing(file)
            for request in [two, one] { _ = try await free.send(request) }
            #expect(free.faults.isEmpty)
        }
    }

    @Test("equal requests at once keep the recorded order")
    func equalInStrict() async throws {
        try await withFile { file in
            let requests = Array(repeating: two, count: 200)
            try await Cassette.recording(requests, in: file)
            let cassette = try Cassette.playing(file, mode: .strict)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for request in requests { group.addTask { _ = try await cassette.send(request) } }
                try await group.waitForAll()
            }
            #expect(cassette.faults.isEmpty)
        }
    }

    @Test("a failed exchange throws and is not recorded")
    func failedExchange() async throws {
        try await withFile { file in
            let session = StubSession(.failure(.timedOut), .text("there"))
            let cassette = try Cassette(file: file, mode: .recordMissing, recording: session)
            let error = await #expect(throws: NetworkError.self) { try await cassette.send(one) }
            #expect(error?.code == .timedOut)
            try cassette.save()
            #expect(!FileManager.default.fileExists(atPath: file.path))
            #expect(try await cassette.send(one).text == "there")
            try cassette.save()
            #expect(try Archive(file).entries.count == 1)
        }
    }

    @Test("an unchanged cassette writes nothing")
    func unchanged() async throws {
        try await withFile { file in
            try await Cassette.recording([one], in: file)
            for mode in [Cassette.Mode.replay, .strict, .recordMissing] {
                let cassette = try Cassette.playing(file, mode: mode)
                _ = try await cassette.send(one)
                try FileManager.default.moveItem(at: file, to: file.appendingPathExtension("aside"))
                try cassette.save()
                #expect(!FileManager.default.fileExists(atPath: file.path))
                try FileManager.default.moveItem(at: file.appendingPathExtension("aside"), to: file)
            }
        }
    }

    @Test("concurrent requests each get their own entry")
    func concurrentRequests() async throws {
        try await withFile { file in
            let requests = (0..<100).map { NetworkRequest(text: "https://h.example/\($0 % 50)") }
            func texts(_ cassette: Cassette) async throws -> [String] {
                try await withThrowingTaskGroup(of: String.self) { group in
                    for request in requests { group.addTask { try await cassette.send(request).text } }
                    return try await group.reduce(into: []) { $0.append($1) }.sorted()
                }
            }
            let session = StubSession { .text($0.path) }
            let recorded = try await Cassette(file: file, mode: .recordMissing, recording: session).run(texts)
            let played = try await Cassette(file: file, mode: .replay, recording: NoNetwork()).run(texts)
            #expect(played == recorded)
            #expect(played.count == 100)
        }
    }

    @Test("the environment selects the mode, and an unknown mode is an error")
    func environmentMode() throws {
        let names = ["replay": Cassette.Mode.replay, "record": .recordMissing, "rewrite": .rewrite, "strict": .strict]
        for (name, mode) in names {
            #expect(try Cassette.Mode.fromEnvironment.resolved(in: ["SWITCHBOARD_CASSETTES": name]) == mode)
            #expect(try Cassette.Mode.strict.resolved(in: ["SWITCHBOARD_CASSETTES": name]) == .strict)
        }
        #expect(try Cassette.Mode.fromEnvironment.resolved(in: [:]) == .replay)
        #expect(Cassette.Mode.fromEnvironment.howToRecord == "SWITCHBOARD_CASSETTES=record swift test")
        let error = #expect(throws: NetworkError.self) {
            try Cassette.Mode.fromEnvironment.resolved(in: ["SWITCHBOARD_CASSETTES": "Record"])
        }
        #expect(error?.reason == "SWITCHBOARD_CASSETTES is \"Record\"; it is replay, record, rewrite or strict")
    }

    @Test("run has a current cassette and throws its faults")
    func run() async throws {
        try await withFile { file in
            let none = #expect(throws: NetworkError.self) { try Cassette.current }
            #expect(none?.code == .cassetteFault)
            try await Cassette.recording([one, two], in: file)
            let error = await #expect(throws: NetworkError.self) {
                try await Cassette(file: file, mode: .replay).run { cassette in
                    #expect(try Cassette.current === cassette)
                    _ = try await Cassette.current.send(one)
                }
            }
            #expect(error?.code == .cassetteFault)
            #expect(error?.reason == "cassette tape.har: nobody requested entry 2 of 2, GET https://h.example/two")
        }
    }

    @Test("run saves the cassette and throws the error of its body")
    func runThatThrows() async throws {
        struct Odd: Error {}
        try await withFile { file in
            await #expect(throws: Odd.self) {
                try await Cassette(file: file, mode: .rewrite, recording: StubSession { _ in .text("") }).run {
                    _ = try await $0.send(one)
                    throw Odd()
                }
            }
            let urls = try Archive(file).urls
            #expect(urls == ["https://h.example/one?page=1"])
        }
    }

    @Test("an invalid request is refused and is no fault")
    func invalidRequest() async throws {
        try await withFile { file in
            try await Cassette.recording([one], in: file)
            let cassette = try Cassette.playing(file)
            let bad = NetworkRequest(.get, text: "https://h.example/", headers: ["a": "b\r\nc"])
            let error = await #expect(throws: NetworkError.self) { try await cassette.send(bad) }
            #expect(error?.code == .invalidRequest)
            #expect(cassette.faults.count == 1)
        }
    }
}
