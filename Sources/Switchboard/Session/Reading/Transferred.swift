/// A value that moves to another actor although it is not `Sendable`. Nobody else may have it.
package struct Transferred<Value>: @unchecked Sendable {
    package var value: Value

    package init(_ value: Value) { self.value = value }
}
