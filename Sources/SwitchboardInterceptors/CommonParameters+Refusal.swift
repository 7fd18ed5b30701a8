import Foundation
import Switchboard

extension CommonParameters {
    /// Rejects an unconverted value at compile time: use `CommonParameters(try Parameters(dictionary))`.
    @available(*, unavailable, message: "convert the value first: `CommonParameters(try Parameters(dictionary))`")
    @_disfavoredOverload
    public init(_ parameters: Any?) {
        self.init(Parameters())
    }
}
