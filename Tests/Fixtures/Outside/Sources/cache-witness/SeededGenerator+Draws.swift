extension SeededGenerator {
    mutating func isOneIn(_ count: UInt64) -> Bool { next() % count == 0 }

    mutating func one<Value>(of values: [Value]) -> Value { values[Int(next() % UInt64(values.count))] }
}
