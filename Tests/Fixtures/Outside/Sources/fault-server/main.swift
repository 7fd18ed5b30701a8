import Foundation
import Switchboard
import SwitchboardMocks

// A line for each fault: its name, its port, whether it needs a body. Then it serves until its input ends.
var servers: [MockServer] = []
for fault in MockFault.all {
    let server = try MockServer()
    server.enqueue(fault.response.repeated())
    servers.append(server)
    print(fault.name, server.port, fault.needsBody ? "body" : "-")
}
fflush(nil)
while readLine() != nil {}
for server in servers { server.stop() }
