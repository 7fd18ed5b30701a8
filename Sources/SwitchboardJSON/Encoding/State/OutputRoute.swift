/// The cached way in which the values of a type are written.
struct OutputRoute {
    /// The type, or nil for an empty cache entry.
    let type: ObjectIdentifier?
    let kind: OutputKind
    /// The type as a direct value, for ``OutputKind/direct`` and ``OutputKind/optional``.
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
