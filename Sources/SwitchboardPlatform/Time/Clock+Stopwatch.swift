extension Clock where Duration == Swift.Duration {
    /// Returns a closure that measures the time since now.
    @inlinable
    package func stopwatch() -> @Sendable () -> Swift.Duration {
        let start = now
        return { start.duration(to: self.now) }
    }
}
