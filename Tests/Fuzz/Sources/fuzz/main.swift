import CFuzzer
import Foundation

// fuzz list | fuzz TARGET [OPTION OF LIBFUZZER...] | fuzz linear TARGET CORPUS SECONDS
let words = CommandLine.arguments.dropFirst()
switch words.first {
case nil, "list": print(Target.all.map { $0.name }.joined(separator: "\n"))
case "linear":
    let words = Array(words.dropFirst())
    guard words.count == 3, let seconds = Double(words[2]) else { stop("usage: fuzz linear TARGET CORPUS SECONDS") }
    let search = LinearSearch(target(words[0]), corpus: URL(fileURLWithPath: words[1]))
    exit(search.run(seconds: seconds) ? 0 : 1)
case let name?:
    let chosen = target(name)
    Target.chosen = chosen.test
    var arguments = words.dropFirst().map { strdup($0) }
    arguments.insert(strdup(CommandLine.arguments[0]), at: 0)
    var count = CInt(arguments.count)
    arguments.append(nil)
    let status = arguments.withUnsafeMutableBufferPointer { buffer in
        var pointer = buffer.baseAddress
        return LLVMFuzzerRunDriver(&count, &pointer) { bytes, size in
            Target.chosen(UnsafeRawBufferPointer(start: bytes, count: size))
            return 0
        }
    }
    exit(status)
}

func target(_ name: String) -> Target {
    guard let target = Target.all.first(where: { $0.name == name }) else { stop("fuzz: no target \(name)") }
    return target
}

func stop(_ text: String) -> Never {
    FileHandle.standardError.write(Data((text + "\n").utf8))
    exit(64)
}
