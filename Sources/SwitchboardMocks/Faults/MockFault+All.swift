import Foundation
import Switchboard

extension MockFault {
    /// Every fault of HTTP, one value each. Their times are short: a pause is 20 milliseconds, and a stall lasts until the
    /// client gives up.
    public static let all: [MockFault] = beforeTheHead + inTheBody + framing + encodings + slow + oddButWhole

    private static let beforeTheHead = [
        MockFault("close-on-accept", "closes as soon as the connection stands", .close(at: .accept), .connectionLost),
        MockFault("reset-on-accept", "resets as soon as the connection stands", .reset(at: .accept), .cannotConnect),
        MockFault("stall-on-accept", "accepts and reads nothing", .stall(at: .accept), .timedOut),
        MockFault(
            "close-after-request-line", "closes behind the first line of the request", .close(at: .requestLine),
            .connectionLost),
        MockFault(
            "reset-after-request-line", "resets behind the first line of the request", .reset(at: .requestLine),
            .connectionLost),
        MockFault(
            "close-after-request-head", "closes behind the header fields of the request", .close(at: .requestHead),
            .connectionLost, needsBody: true),
        MockFault(
            "reset-amid-request-body", "resets behind 10 bytes of the request's body",
            .reset(at: .requestBody(after: 10)), .connectionLost, needsBody: true),
        MockFault("close", "reads the request and closes without a byte", .close, .connectionLost),
        MockFault("reset", "reads the request and resets", .reset, .connectionLost),
        MockFault("stall", "reads the request and stays silent", .stall, .timedOut),
        MockFault(
            "close-after-status-line", "closes behind the status line", .close(at: .statusLine), .connectionLost,
            trapsURLSessionOnLinux: true),
        MockFault(
            "stall-after-status-line", "sends the status line and stays silent", .stall(at: .statusLine), .timedOut,
            trapsURLSessionOnLinux: true),
    ]

    private static let inTheBody = [
        MockFault("close-after-head", "closes behind the header fields", .close(at: .head), .truncatedBody),
        MockFault("reset-after-head", "resets behind the header fields", .reset(at: .head), .connectionLost),
        MockFault("truncated", "closes behind 100 bytes of a longer body", .truncated(after: 100), .truncatedBody),
        MockFault(
            "reset-amid-body", "resets behind 100 bytes of a longer body", .reset(at: .body(after: 100)),
            .connectionLost),
        MockFault("stalled", "sends 100 bytes of a longer body and stays silent", .stalled(after: 100), .timedOut),
        MockFault(
            "missing-last-chunk", "sends chunks without the last, empty one, and closes",
            .text("abcdef").chunked(2).withoutLastChunk(), .truncatedBody),
    ]

    private static let framing = [
        MockFault(
            "length-too-long", "announces 10 bytes, sends 6 and closes", .text("abcdef").announcing(length: 10),
            .truncatedBody),
        MockFault("length-too-short", "announces 3 bytes and sends 6", .text("abcdef").announcing(length: 3), nil),
        MockFault(
            "lengths-that-differ", "has two Content-Length fields that differ",
            .text("abcdef").duplicatingContentLength(as: 5), .invalidResponse),
        MockFault(
            "bad-chunk-size", "has a chunk size that is no number", .text("abcdef").chunked(sizeText: "zz"),
            .invalidResponse),
        MockFault("garbage", "sends bytes that are no HTTP", .garbage(), .invalidResponse),
        MockFault("oversized-header", "sends a header field of a mebibyte", .oversizedHeader(), .headersTooLarge),
        MockFault(
            "interim-without-end", "sends 20,000 interim responses, and no other",
            .raw(String(repeating: "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n", count: 20_000)), .headersTooLarge,
            trapsURLSessionOnLinux: true),
        MockFault("redirect-loop", "redirects to itself for ever", .redirectLoop, nil),
    ]

    private static let encodings = [
        MockFault(
            "no-gzip", "says gzip and sends text", .text("abcdef").mislabelled(as: "gzip"), .cannotDecodeResponse),
        MockFault(
            "unknown-encoding", "has a Content-Encoding that nobody knows", .text("abcdef").mislabelled(as: "rot13"),
            nil),
        MockFault("gzip-bomb", "sends a gibibyte of zeros as a mebibyte of gzip", .gzipBomb(), .responseTooLarge),
    ]

    private static let slow = [
        MockFault("late", "waits before it answers", .text("late").delayed(by: .milliseconds(20)), nil),
        MockFault(
            "slow-chunks", "waits between chunks", .text("abcdef").chunked(2).paced(every: .milliseconds(20)), nil),
        MockFault(
            "throttled", "sends 40,000 bytes a second", .data(Data(count: 4_000)).throttled(bytesPerSecond: 40_000), nil
        ),
        MockFault(
            "split-head", "sends the head in two halves, by a script of bytes",
            .script(
                .send("HTTP/1.1 200 OK\r\nContent-Le"), .pause(.milliseconds(20)), .send("ngth: 3\r\n\r\nabc"),
                .keepAlive),
            nil),
        MockFault("slow-loris", "sends the head byte by byte", .text("abc").dripping(every: .milliseconds(2)), nil),
    ]

    private static let oddButWhole = [
        MockFault("http-1.0", "answers as HTTP/1.0, up to the end of the connection", .text("abc").asHTTP10(), nil),
        MockFault(
            "trailing-bytes", "sends bytes behind the end of the body", .text("abc").followed(by: "trailing"), nil),
        MockFault("interim-storm", "sends 50 interim responses first", .text("abc").preceded(byInterim: 50), nil),
        MockFault(
            "equal-lengths", "has the same Content-Length twice", .text("abc").duplicatingContentLength(as: 3), nil),
    ]
}
