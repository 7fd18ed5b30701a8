import Foundation
import Switchboard

/// A part of the library whose calls fail.
struct Scene: Sendable {
    let name: String
    /// The calls that fail, or nil for all.
    var only: Set<String>?
    /// Whether all later calls fail too in some cases.
    var failsOnward = true
    /// Fills an empty folder.
    var prepare: @Sendable (Place) async throws -> Void = { _ in }
    /// The part whose calls fail. Throws ``Wrong`` for a wrong value.
    let run: @Sendable (Place) async throws -> Void
    /// The next run, without faults. `hasSucceeded` says whether the first ended without an error.
    let verify: @Sendable (_ place: Place, _ hasSucceeded: Bool) async throws -> Void
    /// Opens the files after the machine was killed during `run`. It must find complete contents, old or new, and
    /// no error. Nil for a scene without files.
    var recover: (@Sendable (Place) async throws -> Void)?
}

/// The folder and the server of a scene.
struct Place: Sendable {
    let folder: URL
    let server: URL
    /// Whether the usual timeouts apply, because no call fails.
    var isPatient = true

    func file(_ name: String) -> URL { folder.appendingPathComponent(name) }
    func url(_ path: String) -> URL { server.appendingPathComponent(path) }

    /// The names in the folder, sorted.
    var names: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).sorted()
    }
}

/// A value that the library must not return.
struct Wrong: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }

    static func unless(_ holds: Bool, _ text: @autoclosure () -> String) throws {
        if !holds { throw Wrong(text()) }
    }
}

/// Bodies whose parts are all different.
enum Body {
    private static let block: [UInt8] = {
        var state: UInt64 = 7
        return (0..<65_521).map { _ in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return UInt8(truncatingIfNeeded: state >> 56)
        }
    }()

    static func data(_ count: Int) -> Data {
        var data = Data(capacity: count)
        while data.count < count { data += block.prefix(count - data.count) }
        return data
    }
}
