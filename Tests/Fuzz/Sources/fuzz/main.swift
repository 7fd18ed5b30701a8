import CFuzzer
import Foundation

// FUZZ_TARGET=TARGET fuzz [OPTION OF LIBFUZZER...] | fuzz list | fuzz linear TARGET CORPUS SECONDS
// The target is no argument, because libFuzzer starts this program again with its own arguments.
if let name = ProcessInfo.processInfo.environment["FUZZ_TARGET"] {
    Target.chosen = target(name).test
    var count = CommandLine.argc
    var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
    let status = LLVMFuzzerRunDriver(&count, &arguments) { bytes, size in
        Target.chosen(UnsafeRawBufferPointer(start: bytes, count: size))
        return 0
    }
    exit(status)
}
let words = Array(CommandLine.arguments.dropFirst())
if words == ["list"] {
    print(Target.all.map { $0.name }.joined(separator: "\n"))
} else if words.count == 4, words[0] == "linear", let seconds = Double(words[3]) {
    var search = LinearSearch(target(words[1]), corpus: URL(fileURLWithPath: words[2]))
    exit(search.run(seconds: seconds) ? 0 : 1)
} else {
    stop("usage: fuzz list | fuzz linear TARGET CORPUS SECONDS")
}

func target(_ name: String) -> Target {
    guard let target = Target.all.first(where: { $0.name == name }) else { stop("fuzz: no target \(name)") }
    return target
}

func stop(_ text: String) -> Never {
    FileHandle.standardError.write(Data((text + "\n").utf8))
    exit(64)
}
