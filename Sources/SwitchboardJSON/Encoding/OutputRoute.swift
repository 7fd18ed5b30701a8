/// How the values of a type are written.
struct OutputRoute {
    /// The type; nil for no type yet.
    let type: ObjectIdentifier?
    let kind: OutputKind
    /// What writes the value if its kind is ``OutputKind/direct`` or ``OutputKind/optional``.
    let direct: (any DirectValue.Type)?

    init() {
        type = nil
        kind = .other
        direct = nil
    }

    init<Value: Encodable>(_ type: Value.Type, settings: OutputSettings) {
        self.type = ObjectIdentifier(type)
        kind = OutputKind(type, settings: settings)
        direct = kind == .direct || kind == .optional ? type as? any DirectValue.Type : nil
    }
}
