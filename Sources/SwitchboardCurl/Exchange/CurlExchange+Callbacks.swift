#if os(Linux)
import SwitchboardCurlC

extension CurlExchange {
    /// Sets libcurl's callbacks. Each one calls the exchange in its context.
    static func installCallbacks(on easy: UnsafeMutableRawPointer) {
        swcurl_easy_set_callbacks(
            easy,
            { data, size, count, context in
                guard let data, let context else { return 0 }
                return data.withMemoryRebound(to: UInt8.self, capacity: size * count) { bytes in
                    let line = UnsafeBufferPointer(start: bytes, count: size * count)
                    return exchange(context) { $0.didReceive(line: line) } ? size * count : 0
                }
            },
            { data, size, count, context in
                guard let data, let context else { return 0 }
                let bytes = UnsafeRawBufferPointer(start: data, count: size * count)
                return exchange(context) { $0.didReceive(body: bytes) }
            },
            { data, size, count, context in
                guard let data, let context else { return CurlCallbackResult.abortReading }
                let buffer = UnsafeMutableRawBufferPointer(start: data, count: size * count)
                return exchange(context) { $0.read(into: buffer) }
            },
            { context, offset, origin in
                // Rewinds only to the start. 1 is CURL_SEEKFUNC_FAIL.
                guard let context, offset == 0, origin == 0 else { return 1 }
                return exchange(context) { $0.rewind() } ? 0 : 1
            },
            { context, remote, _, _, _ in
                // 1 is CURL_PREREQFUNC_ABORT.
                guard let context else { return 1 }
                return exchange(context) { remote == nil ? $0.didSend() : $0.willSend() } ? 0 : 1
            },
            { _, _, context in
                guard let context else { return 1 }
                return exchange(context) { $0.willConnect() } ? 0 : 1
            },
            { context, _, _ in
                // 1 is CURL_SOCKOPT_ERROR.
                guard let context else { return 1 }
                return exchange(context) { $0.willConnect() } ? 0 : 1
            },
            { context, stream, isLast in
                exchange(context) { isLast ? $0.loop.didGoAway(after: stream, from: $0) : $0.didOpen(stream) }
            })
    }
}

/// Runs `body` with the exchange. The loop retains it as long as libcurl has its pointer.
private func exchange<Output>(_ context: UnsafeMutableRawPointer, _ body: (CurlExchange) -> Output) -> Output {
    let exchange = context.load(as: UnsafeMutableRawPointer.self)
    return Unmanaged<CurlExchange>.fromOpaque(exchange)._withUnsafeGuaranteedRef(body)
}
#endif
