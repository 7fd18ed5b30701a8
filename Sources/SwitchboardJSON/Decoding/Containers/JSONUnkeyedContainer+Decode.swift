extension JSONUnkeyedContainer {
    mutating func decode(_ type: Bool.Type) throws -> Bool {
        try next(type) { try $0.bool(at: $1) }
    }

    mutating func decode(_ type: String.Type) throws -> String {
        try next(type) { try $0.string(at: $1) }
    }

    mutating func decode(_ type: Double.Type) throws -> Double {
        try next(type) { try $0.double(at: $1) }
    }

    mutating func decode(_ type: Float.Type) throws -> Float {
        try next(type) { try $0.float(at: $1) }
    }

    mutating func decode(_ type: Int.Type) throws -> Int {
        try next(type) { try $0.integer(type, at: $1) }
    }

    mutating func decode(_ type: Int8.Type) throws -> Int8 {
        try next(type) { try $0.integer(type, at: $1) }
    }

    mutating func decode(_ type: Int16.Type) throws -> Int16 {
        try next(type) { try $0.integer(type, at: $1) }
    }

    mutating func decode(_ type: Int32.Type) throws -> Int32 {
        try next(type) { try $0.integer(type, at: $1) }
    }

    mutating func decode(_ type: Int64.Type) throws -> Int64 {
        try next(type) { try $0.integer(type, at: $1) }
    }

    mutating func decode(_ type: UInt.Type) throws -> UInt {
        try next(type) { try $0.integer(type, at: $1) }
    }

    mutating func decode(_ type: UInt8.Type) throws -> UInt8 {
        try next(type) { try $0.integer(type, at: $1) }
    }

    mutating func decode(_ type: UInt16.Type) throws -> UInt16 {
        try next(type) { try $0.integer(type, at: $1) }
    }

    mutating func decode(_ type: UInt32.Type) throws -> UInt32 {
        try next(type) { try $0.integer(type, at: $1) }
    }

    mutating func decode(_ type: UInt64.Type) throws -> UInt64 {
        try next(type) { try $0.integer(type, at: $1) }
    }

    @available(macOS 15.0, iOS 18.0, watchOS 11.0, tvOS 18.0, visionOS 2.0, *)
    mutating func decode(_ type: Int128.Type) throws -> Int128 {
        try next(type) { try $0.wideInteger(type, at: $1) }
    }

    @available(macOS 15.0, iOS 18.0, watchOS 11.0, tvOS 18.0, visionOS 2.0, *)
    mutating func decode(_ type: UInt128.Type) throws -> UInt128 {
        try next(type) { try $0.wideInteger(type, at: $1) }
    }
}
