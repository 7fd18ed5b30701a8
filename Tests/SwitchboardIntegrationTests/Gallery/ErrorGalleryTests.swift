#if os(Linux)
import Foundation
import Switchboard
import SwitchboardPlatform
import SwitchboardTestSupport
import Testing

/// Compares the texts of every code of `NetworkError`, provoked as a user would, with `ErrorGallery.md` beside this
/// file.
///
/// `SWITCHBOARD_GALLERY=write swift test --filter ErrorGallery` writes that file again; read the changes. The
/// transport's texts are those of `CurlSession`, so these tests run on Linux.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct ErrorGalleryTests {
    private static let isWriting = ProcessInfo.processInfo.environment["SWITCHBOARD_GALLERY"] == "write"

    /// The names of the codes in `NetworkError+Code.swift`, so that a new code without an entry fails here.
    private static let codes: [String] = {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../../Sources/Switchboard/Encoding/Messages/NetworkError+Code.swift")
        let text = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
        return text.matches(of: #/public static var (\w+): NetworkError.Code/#).map { String($0.1) }
    }()

    @Test("every code of the package has exactly one entry in the gallery", .requirement("S4.6"))
    func complete() throws {
        #expect(Self.codes.count >= 40)
        #expect(Set(Exhibit.all.map(\.code.rawValue)) == Set(Self.codes))
        #expect(Exhibit.all.count == Self.codes.count)
        guard !Self.isWriting else { return }
        let entries = try GalleryFile.read()
        #expect(Set(entries.keys) == Set(Self.codes))
    }

    @Test(
        "every error has the texts of its entry in the gallery", .requirement("S4.6"), .enabled(if: !Offline.isInside),
        arguments: Exhibit.all)
    func says(exhibit: Exhibit) async throws {
        if exhibit.code == .noInternetConnection, !Offline.isPossible { return }
        if exhibit.code == .cannotFindHost, !NetworkPath.exists { return }
        let texts = try await exhibit.provoke()
        #expect(texts.code == exhibit.code.rawValue)
        for text in [texts.error, texts.message] {
            #expect(!text.contains(GalleryApi.key))
            #expect(text.allSatisfy { !$0.isNewline })
        }
        guard !Self.isWriting else { return }
        let entries = try GalleryFile.read()
        let entry = try #require(entries[texts.code])
        let expected = GalleryFile.entry(exhibit, texts)
        #expect(entry == expected, "the gallery has:\n\(entry)\nand this is:\n\(expected)")
    }

    @Test("writes the gallery", .enabled(if: isWriting && !Offline.isInside))
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

    @Test("prints the texts of an offline machine", .enabled(if: Offline.isInside, "run by an exhibit"))
    func offline() async throws {
        try await Offline.show()
    }
}
#endif
