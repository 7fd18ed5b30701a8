import Foundation
import Testing

/// Overwrites bytes of the only stored response in a folder, in its file.
func damageStoredFile(in folder: URL, at offset: UInt64) throws {
    let handle = try FileHandle(forUpdating: folder.appendingPathComponent(try #require(names(in: folder).first)))
    try handle.seek(toOffset: offset)
    try handle.write(contentsOf: Data("damage".utf8))
    try handle.close()
}
