/// A type of which `dump` prints the description alone, because its properties contain secrets.
package protocol DumpedAsDescription: CustomStringConvertible, CustomReflectable {}

extension DumpedAsDescription {
    /// A mirror with only the description, so that `dump` prints no secret.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
