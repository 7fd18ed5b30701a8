import Foundation
import Glibc

/// A change of a file, from the log of the shim.
enum FileChange: CustomStringConvertible {
    /// Also of an existing file.
    case create(path: String, inode: Int64)
    /// Opened with `O_TRUNC`.
    case replace(path: String, inode: Int64)
    case write(inode: Int64, offset: Int, Data)
    case truncate(inode: Int64, size: Int)
    case sync(inode: Int64)
    case syncFolder
    case rename(from: String, to: String)
    case unlink(path: String)
    case makeFolder(path: String)

    static func parse(_ log: Data) -> [FileChange] {
        var (changes, rest): ([FileChange], Data) = ([], log)
        func take(_ count: Int) -> Data {
            defer { rest = rest.dropFirst(count) }
            return rest.prefix(count)
        }
        while rest.count >= 40 {
            let head = take(40)
            let numbers = (0..<5).map { index in
                head.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: index * 8, as: Int64.self) }
            }
            let (inode, offset) = (numbers[1], Int(numbers[2]))
            let data = take(Int(numbers[3]))
            let (first, second) = (
                String(decoding: data, as: UTF8.self), String(decoding: take(Int(numbers[4])), as: UTF8.self)
            )
            switch numbers[0] {
            case 1: changes.append(.create(path: first, inode: inode))
            case 2: changes.append(.write(inode: inode, offset: offset, Data(data)))
            case 3: changes.append(.sync(inode: inode))
            case 4: changes.append(.rename(from: first, to: second))
            case 5: changes.append(.unlink(path: first))
            case 6 where first.isEmpty: changes.append(.truncate(inode: inode, size: offset))
            case 6: changes.append(.replace(path: first, inode: inode))
            case 7: changes.append(.makeFolder(path: first))
            default: changes.append(.syncFolder)
            }
        }
        return changes
    }

    var description: String {
        func name(_ path: String) -> String { path.split(separator: "/").last.map(String.init) ?? path }
        return switch self {
        case .create(let path, let inode): "create \(name(path)), inode \(inode)"
        case .replace(let path, let inode): "replace \(name(path)), inode \(inode)"
        case .write(let inode, let offset, let data): "write \(data.count) bytes at \(offset) to inode \(inode)"
        case .truncate(let inode, let size): "truncate inode \(inode) to \(size)"
        case .sync(let inode): "fsync of inode \(inode)"
        case .syncFolder: "fsync of a folder"
        case .rename(let from, let to): "rename \(name(from)) to \(name(to))"
        case .unlink(let path): "unlink \(name(path))"
        case .makeFolder(let path): "mkdir \(name(path))"
        }
    }
}

/// The changes without `fsync` that a killed machine loses.
struct Loss: CustomStringConvertible {
    enum Part: String { case nothing, half, all }

    /// The lost changes of contents. `half` keeps the first half of each file's changes, and half of the next write.
    let contents: Part
    /// The lost changes of names. `half` keeps the first half.
    let names: Part

    static let all: [Loss] = [
        Loss(contents: .nothing, names: .nothing), Loss(contents: .all, names: .nothing),
        Loss(contents: .half, names: .nothing), Loss(contents: .nothing, names: .all),
        Loss(contents: .all, names: .all), Loss(contents: .half, names: .half),
    ]

    var description: String { "lost contents: \(contents.rawValue), lost names: \(names.rawValue)" }
}

/// The files of a folder, with the changes that no `fsync` has made durable.
struct FileState {
    private struct File {
        var durable = Data()
        var pending: [FileChange] = []
    }

    private enum NameChange {
        case link(String, file: Int)
        case rename(String, String)
        case unlink(String)
        case makeFolder(String)
    }

    private var files: [File] = []
    private var numbers: [Int64: Int] = [:]
    /// The durable names, and the folders.
    private var names: [String: Int] = [:]
    private var folders: Set<String> = []
    private var changes: [NameChange] = []

    /// Reads the files of a folder. All of it is durable.
    init(of folder: URL) throws {
        for path in FileManager.default.subpaths(atPath: folder.path) ?? [] {
            let url = folder.appendingPathComponent(path)
            var information = stat()
            guard lstat(url.path, &information) == 0 else { continue }
            if information.st_mode & S_IFMT == S_IFDIR {
                folders.insert(url.path)
            } else {
                numbers[Int64(information.st_ino)] = files.count
                names[url.path] = files.count
                files.append(File(durable: try Data(contentsOf: url)))
            }
        }
    }

    func after(_ changes: some Sequence<FileChange>) -> FileState {
        var state = self
        for change in changes { state.apply(change) }
        return state
    }

    private mutating func apply(_ change: FileChange) {
        switch change {
        case .create(let path, let inode), .replace(let path, let inode):
            let current = current(changes).names
            if current[path] == nil {
                numbers[inode] = files.count
                changes.append(.link(path, file: files.count))
                files.append(File())
            } else if let number = current[path] {
                numbers[inode] = number
            }
            if case .replace = change, let number = numbers[inode] {
                files[number].pending.append(.truncate(inode: inode, size: 0))
            }
        case .write(let inode, _, _), .truncate(let inode, _):
            // A file outside the folder has no number.
            if let number = numbers[inode] { files[number].pending.append(change) }
        case .sync(let inode):
            guard let number = numbers[inode] else { return }
            files[number].durable = Self.contents(files[number].durable, files[number].pending[...])
            files[number].pending = []
        case .syncFolder:
            (names, folders) = current(changes)
            changes = []
        case .rename(let from, let to): changes.append(.rename(from, to))
        case .unlink(let path): changes.append(.unlink(path))
        case .makeFolder(let path): changes.append(.makeFolder(path))
        }
    }

    private func current(_ changes: some Sequence<NameChange>) -> (names: [String: Int], folders: Set<String>) {
        var (names, folders) = (names, folders)
        for change in changes {
            switch change {
            case .link(let path, let file): names[path] = file
            case .rename(let from, let to): names[to] = names.removeValue(forKey: from)
            case .unlink(let path): names[path] = nil
            case .makeFolder(let path): folders.insert(path)
            }
        }
        return (names, folders)
    }

    private static func contents(_ start: Data, _ changes: ArraySlice<FileChange>) -> Data {
        var data = start
        for change in changes {
            switch change {
            case .truncate(_, let size):
                data = data.prefix(size) + Data(count: max(0, size - data.count))
            case .write(_, let offset, let bytes):
                if data.count < offset + bytes.count { data += Data(count: offset + bytes.count - data.count) }
                data.replaceSubrange(data.startIndex + offset..<data.startIndex + offset + bytes.count, with: bytes)
            default: break
            }
        }
        return data
    }

    private static func contents(_ file: File, _ loss: Loss.Part) -> Data {
        switch loss {
        case .nothing: return contents(file.durable, file.pending[...])
        case .all: return file.durable
        case .half:
            let count = file.pending.count / 2
            var kept = Array(file.pending.prefix(count))
            if count < file.pending.count, case .write(let inode, let offset, let data) = file.pending[count] {
                kept.append(.write(inode: inode, offset: offset, data.prefix(data.count / 2)))
            }
            return contents(file.durable, kept[...])
        }
    }

    /// Replaces a folder by the state that remains.
    func write(to folder: URL, _ loss: Loss) throws {
        let kept = loss.names == .all ? 0 : loss.names == .half ? changes.count / 2 : changes.count
        let (names, folders) = current(changes.prefix(kept))
        try? FileManager.default.removeItem(at: folder)
        for path in [folder.path] + folders.sorted() {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        }
        for (path, number) in names
        where FileManager.default.fileExists(atPath: (path as NSString).deletingLastPathComponent) {
            let attributes: [FileAttributeKey: Any] = [.posixPermissions: 0o600]
            guard
                FileManager.default.createFile(
                    atPath: path, contents: Self.contents(files[number], loss.contents), attributes: attributes)
            else { throw Wrong("\(path) cannot be written") }
        }
    }
}
