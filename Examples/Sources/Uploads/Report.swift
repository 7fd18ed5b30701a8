import ExampleKit
import Switchboard

/// Formats the program's output.
enum Report {
    static func of(_ receipt: Receipt) -> String {
        let head = "understood \(receipt.type), \(counted(receipt.bytes, "byte"))".onOneLine.cut(to: 79)
        guard !receipt.items.isEmpty else { return head }
        var table = Table(.init("Name", width: 12), .init("Kind", width: 7), .init("Content", width: 56))
        table.rows = receipt.items.map { [$0.name, $0.kind, $0.content] }
        return "\(head)\n\(table.text)"
    }

    static func of(_ receipt: Receipt, _ progress: TransferProgress) -> String {
        let (sent, all) = (progress.current.completed, progress.current.expected)
        return "sent \(sent) of \(all.map { "\($0)" } ?? "unknown") bytes\n\(of(receipt))"
    }
}
