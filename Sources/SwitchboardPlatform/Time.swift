extension Duration {
    /// A century: longer than any wait, without overflow when added to a date or passed to a clock.
    @usableFromInline package static let century = Duration.seconds(Int64(3_155_760_000))

    /// The duration, limited to the range from zero to a century.
    @inlinable package var clamped: Duration { max(.zero, min(self, .century)) }

    /// The nanoseconds, limited to the range from zero to a century.
    @inlinable package var wholeNanoseconds: UInt64 {
        let (seconds, attoseconds) = clamped.components
        return UInt64(seconds) * 1_000_000_000 + UInt64(attoseconds / 1_000_000_000)
    }

    /// The seconds, limited to the range from zero to a century.
    package var seconds: Double {
        let (whole, attoseconds) = clamped.components
        return Double(whole) + Double(attoseconds) / 1e18
    }

    /// The text in seconds, such as `0.4 s`.
    package var secondsText: String {
        let (whole, attoseconds) = clamped.components
        return (attoseconds == 0 ? String(whole) : String(seconds)) + " s"
    }

    /// The text in whole seconds such as `30 s`, rounded up for a remaining time.
    package var wholeSecondsText: String { "\(Int64(seconds.rounded(.up))) s" }

    /// The text for people, rounded up: `20 s`, `3 min`, `5 h` or `4 days`.
    package var waitText: String {
        let (size, name): (Double, String) =
            switch seconds {
            case ...120: (1, "s")
            case ...7_200: (60, "min")
            case ...172_800: (3_600, "h")
            default: (86_400, "days")
            }
        return "\(Int64((seconds / size).rounded(.up))) \(name)"
    }

    /// The text in whole milliseconds such as `12 ms`, rounded down.
    package var millisecondsText: String {
        let (seconds, attoseconds) = clamped.components
        return "\(seconds * 1_000 + attoseconds / 1_000_000_000_000_000) ms"
    }
}

extension Clock where Duration == Swift.Duration {
    /// Returns a closure that measures the time since now.
    @inlinable
    package func stopwatch() -> @Sendable () -> Swift.Duration {
        let start = now
        return { start.duration(to: self.now) }
    }
}
