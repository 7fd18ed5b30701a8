import Foundation

/// The system's source of secure random numbers.
package enum SystemRandom {
    /// Returns random numbers, at most 64. On Linux they take one system call together, and `SystemRandomNumberGenerator`
    /// makes one for each.
    package static func numbers(_ count: Int) -> [UInt32] {
        var numbers = [UInt32](repeating: 0, count: count)
        #if os(Linux)
        let isFilled = numbers.withUnsafeMutableBytes { getentropy($0.baseAddress, $0.count) == 0 }
        if isFilled { return numbers }
        #endif
        for index in numbers.indices { numbers[index] = .random(in: .min ... .max) }
        return numbers
    }
}
