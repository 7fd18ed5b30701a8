// Apple's CryptoKit.
import Foundation

// https://developer.apple.com/documentation/cryptokit/digest
@available(macOS 10.15, iOS 13.0, tvOS 13.0, watchOS 6.0, *)
public protocol Digest: Hashable, Sendable, Sequence where Element == UInt8 {
    static var byteCount: Int { get }
}

// https://developer.apple.com/documentation/cryptokit/hashfunction
@available(macOS 10.15, iOS 13.0, tvOS 13.0, watchOS 6.0, *)
public protocol HashFunction: Sendable {
    associatedtype Digest: CryptoKit.Digest

    init()
    mutating func update(bufferPointer: UnsafeRawBufferPointer)
    func finalize() -> Digest
}

@available(macOS 10.15, iOS 13.0, tvOS 13.0, watchOS 6.0, *)
extension HashFunction {
    // https://developer.apple.com/documentation/cryptokit/hashfunction/hash(data:)
    public static func hash<D: DataProtocol>(data: D) -> Digest { fatalError() }
}

// https://developer.apple.com/documentation/cryptokit/sha256digest
@available(macOS 10.15, iOS 13.0, tvOS 13.0, watchOS 6.0, *)
public struct SHA256Digest: Digest {
    public static var byteCount: Int { fatalError() }
    public func makeIterator() -> Array<UInt8>.Iterator { fatalError() }
}

// https://developer.apple.com/documentation/cryptokit/sha256
@available(macOS 10.15, iOS 13.0, tvOS 13.0, watchOS 6.0, *)
public struct SHA256: HashFunction {
    public init() {}
    public mutating func update(bufferPointer: UnsafeRawBufferPointer) {}
    public func finalize() -> SHA256Digest { fatalError() }
}

// https://developer.apple.com/documentation/cryptokit/insecure
@available(macOS 10.15, iOS 13.0, tvOS 13.0, watchOS 6.0, *)
public enum Insecure {
    // https://developer.apple.com/documentation/cryptokit/insecure/sha1digest
    public struct SHA1Digest: Digest {
        public static var byteCount: Int { fatalError() }
        public func makeIterator() -> Array<UInt8>.Iterator { fatalError() }
    }

    // https://developer.apple.com/documentation/cryptokit/insecure/sha1
    public struct SHA1: HashFunction {
        public init() {}
        public mutating func update(bufferPointer: UnsafeRawBufferPointer) {}
        public func finalize() -> SHA1Digest { fatalError() }
    }

    // https://developer.apple.com/documentation/cryptokit/insecure/md5digest
    public struct MD5Digest: Digest {
        public static var byteCount: Int { fatalError() }
        public func makeIterator() -> Array<UInt8>.Iterator { fatalError() }
    }

    // https://developer.apple.com/documentation/cryptokit/insecure/md5
    public struct MD5: HashFunction {
        public init() {}
        public mutating func update(bufferPointer: UnsafeRawBufferPointer) {}
        public func finalize() -> MD5Digest { fatalError() }
    }
}
