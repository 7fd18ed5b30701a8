import Foundation
import Switchboard
import SwitchboardInspector
import SwitchboardMocks

// Shows calls of each kind in an inspector, for scripts/oracles/inspector. Prints `ready URL` after the calls. Then it
// reads commands: `more N` makes N calls to a stub, `say TEXT` sends a message over the open WebSocket, and `change`
// starts a call that ends with the next command `end`. It prints `done` after each, and ends with its input.
let inspector = try await NetworkInspector.start(maximumCalls: 12_000)
let server = try MockServer()
let sample = Sample(server: server, inspector: inspector)
let socket = try await sample.run()
print("ready \(inspector.url?.absoluteString ?? "off")")
fflush(nil)

var pending: Task<Void, Never>?
while let line = readLine() {
    let words = line.split(separator: " ", maxSplits: 1).map(String.init)
    switch words.first {
    case "more": await sample.more(Int(words.last ?? "") ?? 0)
    case "say":
        try await socket.send(words.last ?? "")
        _ = try await socket.receive()
    case "change": pending = await sample.change()
    case "end":
        server.enqueue(.text("late"))
        sample.open.finish()
        await pending?.value
    default: exit(64)
    }
    print("done")
    fflush(nil)
}
