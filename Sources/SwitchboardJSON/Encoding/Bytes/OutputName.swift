/// The properties of a name that ``OutputBytes/appendName(_:escapesSlashes:)`` computes while it writes the name.
struct OutputName {
    /// The hash of a plain name. All other names have the same hash.
    var hash: UInt32
    /// Whether the name is ASCII without escapes, so that its written bytes can be compared directly.
    var isPlain: Bool
}
