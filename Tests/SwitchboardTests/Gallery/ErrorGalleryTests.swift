#if os(Linux)
import Foundation
import Switchboard
import SwitchboardTestSupport
import Testing

/// Every code of `NetworkError`, met as a user would meet it, and what it says: `ErrorGallery.md` beside this file.
///
/// `SWITCHBOARD_GALLERY=write swift test --filter ErrorGallery` writes that file anew: read what changed. The words of
/// the transport are those of `CurlSession`, so this is Linux's.
@Suite(.serialized, .timeLimit(.minutes(3)))
struct ErrorGalleryTests {
    private static let isWriting = ProcessInfo.processInfo.environment["SWITCHBOARD_GALLERY"] == "write"

    /// The codes by their names in `NetworkError+Codes.swift`: a new one is in the gallery or fails here.
    private static let codes: [String] = {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../../Sources/Switchboard/Encoding/Errors/NetworkError+Codes.swift")
        let text = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
        return text.matches(of: #/public static var (\w+): Code/#).map { String($0.1) }
    }()

    @Test("every code of the package has an entry in the gallery, and no entry has another code", .requirement("S4.6"))
    func complete() throws {
        #expect(Self.codes.count >= 40)
        #expect(Set(Exhibit.all.map(\.code.rawValue)) == Set(Self.codes))
        #expect(Exhibit.all.count == Self.codes.count)
        guard !Self.isWriting else { return }
        let entries = try GalleryFile.read()
        #expect(Set(entries.keys) == Set(Self.codes))
    }

    @Test(
        "every error says what the gallery has", .requirement("S4.6"), .enabled(if: !Offline.isInside),
        arguments: Exhibit.all)
    func says(exhibit: Exhibit) async throws {
        if exhibit.code == .noInternetConnection, !Offline.isPossible { return }
        let texts = try await exhibit.provoke()
        #expect(texts.code == exhibit.code.rawValue)
        for text in [texts.error, texts.line, texts.message] {
            #expect(!text.contains(GalleryApi.key))
            #expect(text.allSatisfy { !$0.isNewline })
        }
        guard !Self.isWriting else { return }
        let entries = try GalleryFile.read()
        let entry = try #require(entries[texts.code])
        let expected = GalleryFile.entry(exhibit, texts)
        #expect(entry == expected, "the gallery has:\n\(entry)\nand this is:\n\(expected)")
    }

    @Test("the gallery is written", .enabled(if: isWriting && !Offline.isInside))
    func write() async throws {
        let kept = (try? GalleryFile.read()) ?? [:]
        var text = GalleryFile.head
        for exhibit in Exhibit.all {
            let canBe = exhibit.code != .noInternetConnection || Offline.isPossible
            if canBe {
                text += GalleryFile.entry(exhibit, try await exhibit.provoke())
            } else {
                text += kept[exhibit.code.rawValue] ?? ""
            }
        }
        try Data(text.utf8).write(to: GalleryFile.url)
    }

    @Test("inside: offline", .enabled(if: Offline.isInside, "run by an exhibit"))
    func offline() async throws {
        try await Offline.show()
    }
}
#endif
