extension Clock where Duration == Swift.Duration {
    /// Tells how long it has been running.
    @inlinable
    package func stopwatch() -> @Sendable () -> Swift.Duration {
        let start = now
        return { start.duration(to: self.now) }
    }
}
