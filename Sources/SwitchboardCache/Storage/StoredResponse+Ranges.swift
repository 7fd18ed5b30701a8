import SwitchboardPlatform
import Foundation
import Switchboard
import SwitchboardText

extension StoredResponse {
    /// The validator for `If-Range`: a strong entity tag or, without a tag, a time of change that is at least a second
    /// before `Date` ([RFC 9110 §8.8](https://www.rfc-editor.org/rfc/rfc9110#section-8.8)). Nil without either.
    var strongValidator: String? { headers.strongValidator }

    /// The size of the whole body, or nil when it is not known.
    var wholeSize: Int? { part.map(\.size) ?? bodyCount }

    /// Returns whether the response can answer a request: it is whole, or contains the bytes that the request asks for.
    func canAnswer(_ request: NetworkRequest) -> Bool {
        guard request.headers.contains("Range"), status == 200 else { return part == nil }
        return slice(for: request) != nil
    }

    /// The answer to a range.
    enum Slice {
        /// The bytes, and their range in the stored body.
        case bytes(Range<Int>, storedAt: Range<Int>)
        /// The whole contains none of the bytes.
        case none(size: Int)

        /// The number of bytes of the answer.
        var count: Int {
            switch self {
            case .bytes(let bytes, _): bytes.count
            case .none: 0
            }
        }

        /// Returns the answer to a request. The bytes of a file are a stream if the request streams.
        ///
        /// - Throws: `NetworkError.Code.truncatedBody` for a damaged file.
        func response(of stored: StoredResponse, to request: NetworkRequest) throws(NetworkError) -> NetworkResponse {
            switch self {
            case .bytes(let bytes, let storedRange):
                let ends = Int64(bytes.lowerBound)...Int64(bytes.upperBound - 1)
                let range = ContentRange(ends, of: stored.wholeSize.map(Int64.init))
                var fields = stored.headers
                fields.set("Content-Range", range.description)
                fields.set("Content-Length", "\(bytes.count)")
                guard let file = stored.file else {
                    return NetworkResponse(
                        statusCode: 206, headers: fields, body: stored.bytes(storedRange), url: stored.url)
                }
                var response = NetworkResponse(statusCode: 206, headers: fields, url: stored.url)
                if request.options.streamsResponse {
                    response.stream = file.bytes(storedRange, for: request)
                } else {
                    response.body = try file.checked(storedRange)
                }
                return response
            case .none(let size):
                let range = ContentRange(nil, of: Int64(size))
                let fields: HTTPHeaders = ["Content-Range": range.description, "Content-Length": "0"]
                return NetworkResponse(statusCode: 416, headers: fields, url: stored.url)
            }
        }
    }

    /// Returns the bytes that a request with a `Range` asks for. Nil when they are not stored, when `If-Range` does not
    /// name the strong validator, when only another status than 200 is stored, and for a request without a `Range`.
    func slice(for request: NetworkRequest) -> Slice? {
        guard status == 200, let range = CacheRange(request) else { return nil }
        let conditions = request.headers.values(for: "If-Range")
        guard conditions.isEmpty || conditions.count == 1 && strongValidator?.hasBytes(of: conditions[0]) ?? false
        else { return nil }
        if let part {
            // Without a size, only a range that states its last byte can be within the part.
            guard let wanted = range.bytes(of: part.size ?? .max), let stored = part.storedRange(of: wanted) else {
                return nil
            }
            return .bytes(wanted, storedAt: stored)
        }
        guard hasPlainBody, bodyCount > 0 else { return nil }
        guard let wanted = range.bytes(of: bodyCount) else { return .none(size: bodyCount) }
        return .bytes(wanted, storedAt: wanted)
    }

    /// Returns the first stored bytes as a stream.
    func bytes(first count: Int, for request: NetworkRequest) -> ResponseBytes {
        if let file { return file.bytes(0..<count, for: request) }
        let first = Protected<Data?>(body.prefix(count))
        return ResponseBytes { first.swap(nil) }
    }

    private func bytes(_ range: Range<Int>) -> Data {
        let start = body.startIndex
        return body.subdata(in: (start + range.lowerBound)..<(start + range.upperBound))
    }

    /// Whether the stored bytes have the length that the server stated. Sessions decode a `Content-Encoding`.
    private var hasPlainBody: Bool {
        !headers.isEncoded && headers.values(for: "Content-Length").allSatisfy { $0 == "\(bodyCount)" }
    }
}

// MARK: Combining

extension StoredResponse {
    /// Returns this response combined with a part that arrived for the same request ([RFC 9111
    /// §3.4](https://www.rfc-editor.org/rfc/rfc9111#section-3.4)). Of two parts with a gap between them, returns the
    /// larger one. Nil unless both have the same strong validator, the same size if both state one, and the same bytes where
    /// they overlap. Nil for a body in a file.
    func joined(with new: StoredResponse) -> StoredResponse? {
        guard isSameVersion(as: new), status == 200, new.status == 200, new.part != nil || new.hasPlainBody,
            file == nil, new.file == nil
        else { return nil }
        // The stored bytes of an encoded body cannot be compared. The part confirms them.
        guard part != nil || hasPlainBody else { return joined(with: new, body, nil) }
        let sizes = Set([wholeSize, new.wholeSize].compactMap { $0 })
        guard sizes.count < 2, let piece = piece.joined(with: new.piece),
            let part = CachePart(piece.range, of: sizes.first)
        else { return nil }
        return joined(with: new, piece.bytes, part.isWhole ? nil : part)
    }

    /// Returns the whole response without its body: the first bytes of this part, continued by the bytes of a new part.
    /// Nil unless the new part continues this part and has the same strong validator and size.
    func continued(by new: StoredResponse) -> StoredResponse? {
        guard isSameVersion(as: new), status == 200, new.status == 200, let part, let added = new.part,
            let size = added.size, part.size ?? size == size,
            (1...max(1, part.prefix)).contains(added.range.lowerBound), added.range.upperBound > part.prefix
        else { return nil }
        return joined(with: new, Data(), nil, size: size)
    }

    /// Returns whether both responses have the same strong validator, so that their bytes can be combined.
    func isSameVersion(as other: StoredResponse) -> Bool {
        guard let validator = strongValidator else { return false }
        return other.strongValidator?.hasBytes(of: validator) ?? false
    }

    /// Returns the bytes with the fields of both responses. The fields of the later response take precedence.
    private func joined(
        with new: StoredResponse, _ bytes: Data, _ newPart: CachePart?, size: Int? = nil
    ) -> StoredResponse {
        let isLate = new.rules.dateValue < rules.dateValue
        let theirs = new.headers.withoutBodyFields
        var fields = isLate ? theirs.merging(headers) : headers.merging(theirs)
        if newPart == nil, part != nil { fields.set("Content-Length", "\(size ?? bytes.count)") }
        let newer = isLate ? self : new
        let isNewVariant = CacheVariant.names(fields) == new.varyNames
        return StoredResponse(
            status: 200, headers: fields, body: bytes, url: new.url, variant: isNewVariant ? new.variant : variant,
            responseTime: newer.responseTime, initialAge: newer.initialAge, tags: tags.union(new.tags), part: newPart)
    }

    private var piece: Piece { Piece(range: part?.range ?? 0..<body.count, bytes: body) }
}

/// Bytes and their position in the whole.
private struct Piece {
    let range: Range<Int>
    let bytes: Data

    /// Returns the bytes of both, or the larger piece if there is a gap between them. Nil when they differ where they
    /// overlap.
    func joined(with other: Piece) -> Piece? {
        let (first, second) = range.lowerBound <= other.range.lowerBound ? (self, other) : (other, self)
        guard second.range.lowerBound <= first.range.upperBound else {
            return range.count > other.range.count ? self : other
        }
        let start = second.range.lowerBound - first.range.lowerBound
        let overlap = min(first.range.upperBound, second.range.upperBound) - second.range.lowerBound
        guard first.bytes.dropFirst(start).prefix(overlap) == second.bytes.prefix(overlap) else { return nil }
        guard second.range.upperBound > first.range.upperBound else { return first }
        return Piece(
            range: first.range.lowerBound..<second.range.upperBound,
            bytes: first.bytes + second.bytes.dropFirst(overlap))
    }
}

// MARK: Parts of the server

extension NetworkResponse {
    /// Returns the response to store, with the status and the fields of the whole, and the position of the received
    /// bytes of a partial one or of one whose body ended early. For a stream, that is the announced position. Nil when
    /// the response cannot be stored.
    func storable(for request: NetworkRequest, isTruncated: Bool) -> (NetworkResponse, CachePart?)? {
        let isRange = request.headers.contains("Range")
        switch statusCode {
        case 206 where isRange:
            guard let part = receivedPart(for: request, isTruncated: isTruncated) else { return nil }
            return (asWhole(part), part.isWhole ? nil : part)
        case 200 where isTruncated:
            guard mayBeTruncated(for: request), !body.isEmpty,
                let part = CachePart(0..<body.count, of: announcedSize ?? nil), !part.isWhole
            else { return nil }
            return (asWhole(part), part)
        case _ where isTruncated: return nil
        // An error may be about the range, not about the resource.
        case 400... where isRange && statusCode != 404 && statusCode != 410: return nil
        default: return (self, nil)
        }
    }

    /// Returns whether the first bytes of the body can be stored if it ends early, and completed later.
    func mayBeTruncated(for request: NetworkRequest) -> Bool {
        statusCode == 200 && announcedSize != nil && isPartOf(request)
            && !headers.listMembers(of: "Accept-Ranges").contains { $0.lowercased() == "none" }
    }

    /// The announced size of the body. The inner value is nil without one, the outer value for an invalid one.
    private var announcedSize: Int?? {
        let lengths = Set(headers.values(for: "Content-Length"))
        guard let length = lengths.first else { return .some(nil) }
        return lengths.count < 2 ? Int64(digits: length).flatMap(Int.init(exactly:)).map { $0 } : nil
    }

    /// Returns the position of the bytes of a 206. Nil unless it fits the request, its length and its validator.
    private func receivedPart(for request: NetworkRequest, isTruncated: Bool) -> CachePart? {
        let fields = headers.values(for: "Content-Range")
        guard fields.count == 1, let range = ContentRange(fields[0]), let bytes = range.bytes, isPartOf(request),
            let first = Int(exactly: bytes.lowerBound), let end = Int(exactly: bytes.upperBound + 1)
        else { return nil }
        let announced = first..<end
        let size = range.size.flatMap(Int.init(exactly:))
        let count = stream == nil ? body.count : announced.count
        guard headers.values(for: "Content-Length").allSatisfy({ $0 == "\(announced.count)" }),
            isTruncated ? count < announced.count : count == announced.count,
            CacheRange(request)?.allows(announced, of: size) ?? false
        else { return nil }
        return CachePart(first..<(first + count), of: size)
    }

    /// Returns whether the bytes come from the request's URL, and can be combined with others.
    private func isPartOf(_ request: NetworkRequest) -> Bool {
        headers.strongValidator != nil && !headers.isEncoded && url?.asCacheKey == request.url?.asCacheKey
    }

    private func asWhole(_ part: CachePart) -> NetworkResponse {
        var response = self
        response.statusCode = 200
        response.headers.remove("Content-Range")
        response.headers.remove("Content-Length")
        if part.isWhole, let size = part.size { response.headers.set("Content-Length", "\(size)") }
        return response
    }
}

extension HTTPHeaders {
    fileprivate var withoutBodyFields: HTTPHeaders {
        HTTPHeaders(filter { !["content-length", "content-encoding"].contains($0.name.lowercased()) })
    }
}

extension StoredResponse {
    /// Returns the answer to a request with a `Range`, with only its bytes read from the file. Nil without a range,
    /// above the request's limit, and when the bytes are damaged.
    func withSlice(for request: NetworkRequest) -> StoredResponse? {
        guard let file, let slice = slice(for: request) else { return nil }
        guard case .bytes(let wanted, let storedRange) = slice else { return self }
        guard storedRange.count <= request.limits.responseBody, let part = CachePart(wanted, of: wholeSize),
            let bytes = file.read(storedRange)
        else { return nil }
        return with(part: part, body: bytes)
    }
}

extension NetworkRequest {
    /// Whether the answer needs its body in memory.
    var readsIntoMemory: Bool { !options.streamsResponse && method != .head }
}
