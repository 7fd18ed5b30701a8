import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

#if !canImport(Darwin)
/// Glibc declares the function only for C programs that enable its extensions. A lookup at run time fails in an
/// executable that is linked statically.
@_silgen_name("pthread_getattr_np")
private func readAttributes(_ thread: pthread_t, _ attributes: UnsafeMutablePointer<pthread_attr_t>) -> Int32
#endif

/// The rest of a thread's stack that recursive coding may use.
///
/// One is created for each coded value, and checked at each level of nesting. The first levels cost one comparison. Later
/// levels need the bounds of the thread's stack, which are read once.
package struct StackSpace {
    /// The bytes that stay free for code without a check, such as the code of one level and the creation of an error.
    private static let reserve: UInt = 96 << 10
    /// The bytes that are used before the bounds of the stack are read.
    private static let unchecked: UInt = 32 << 10
    /// The bytes that are used on a stack whose bounds are unknown, as on a fiber and on the main thread of musl.
    private static let unknown: UInt = 256 << 10

    /// The lowest address with enough space. Stacks grow downward.
    private var limit: UInt
    private let start: UInt
    private var hasFailed = false

    init() {
        start = Self.address()
        limit = start &- Self.unchecked
    }

    /// Returns whether the stack has space for one more level. After false it stays false, so that code that catches
    /// the error and tries an alternative at each level ends.
    @inline(__always)
    mutating func hasSpace() -> Bool {
        let address = Self.address()
        return address >= limit || hasSpace(at: address)
    }

    @inline(never)
    private mutating func hasSpace(at variable: UInt) -> Bool {
        if hasFailed { return false }
        let address = Self.stackAddress(variable)
        limit = Self.end(of: address) ?? start &- Self.unknown
        if address >= limit { return true }
        hasFailed = true
        limit = .max
        return false
    }

    /// Whether this thread's stack has no space for one more level of a recursion. False if its bounds are unknown.
    package static var isExhausted: Bool {
        let address = stackAddress(address())
        return end(of: address).map { address < $0 } ?? false
    }

    /// Returns the lowest address with enough space on the stack of an address of this thread. Nil if the bounds of the
    /// stack are unknown.
    private static func end(of address: UInt) -> UInt? {
        guard let bounds = bounds(), bounds.contains(address) else { return nil }
        return bounds.lowerBound + min(reserve, UInt(bounds.count) / 2)
    }

    /// Returns the address of a variable of the caller, usually in its part of the stack.
    @inline(__always)
    private static func address() -> UInt {
        var marker: UInt8 = 0
        return withUnsafeMutablePointer(to: &marker) { UInt(bitPattern: $0) }
    }

    /// Returns an address in the caller's part of the stack. The address sanitizer moves variables to the heap, but not memory
    /// whose size is unknown at compile time, so the size depends on the address of a variable.
    @inline(never)
    private static func stackAddress(_ variable: UInt) -> UInt {
        withUnsafeTemporaryAllocation(byteCount: 1 + Int(variable & 7), alignment: 1) { memory in
            UInt(bitPattern: memory.baseAddress)
        }
    }

    /// Returns the stack of this thread, or nil when its bounds are unknown.
    private static func bounds() -> Range<UInt>? {
        Thread.isMainThread ? ofMainThread : ofThisThread()
    }

    #if canImport(Musl)
    /// Musl reports only the part of this stack that is in use, and the part grows.
    private static let ofMainThread: Range<UInt>? = nil
    #else
    /// It is read once, because Linux reads a file for it.
    private static let ofMainThread = ofThisThread()
    #endif

    #if canImport(Darwin)
    private static func ofThisThread() -> Range<UInt>? {
        let thread = pthread_self()
        let end = UInt(bitPattern: pthread_get_stackaddr_np(thread))
        let size = UInt(pthread_get_stacksize_np(thread))
        return size > 0 && size < end ? end - size..<end : nil
    }
    #else
    private static func ofThisThread() -> Range<UInt>? {
        withUnsafeTemporaryAllocation(of: pthread_attr_t.self, capacity: 1) { buffer in
            guard let attributes = buffer.baseAddress, readAttributes(pthread_self(), attributes) == 0 else {
                return nil
            }
            defer { pthread_attr_destroy(attributes) }
            var start: UnsafeMutableRawPointer?
            var size = 0
            guard pthread_attr_getstack(attributes, &start, &size) == 0, let start, size > 0 else { return nil }
            return UInt(bitPattern: start)..<UInt(bitPattern: start) + UInt(size)
        }
    }
    #endif
}
