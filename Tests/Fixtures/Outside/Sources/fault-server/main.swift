import Foundation
import Switchboard
import SwitchboardMocks

// Prints a line for each fault: its name, its port, and whether it needs a body. Then prints an empty line, and serves until
// the input ends.
var servers: [MockServer] = []
for fault in MockFault.all {
    let server = try MockServer()
    server.enqueue(fault.response.repeated())
    servers.append(server)
    print(fault.name, server.port, fault.needsBody ? "body" : "-")
}
print()
fflush(nil)
while readLine() != nil {}
for server in servers { server.stop() }
