#if os(Linux) && compiler(>=6.2)
import Foundation
import SwitchboardPlatform
import Testing

struct TemporaryFileTests {
    // Runs in a separate process, because the variable applies to the whole process.
    @Test("temporary files are in /tmp if TMPDIR is empty")
    func emptyVariable() async {
        await #expect(processExitsWith: .success) {
            setenv("TMPDIR", "", 1)
            let file = try TemporaryFile.create(suffix: ".body")
            unlink(file.path)
            close(file.descriptor)
            #expect(file.path.hasPrefix("/tmp/switchboard-") && file.path.hasSuffix(".body"))
            setenv("TMPDIR", "/var/tmp", 1)
            #expect(TemporaryFile.folder.path == "/var/tmp")
        }
    }
}
#endif
