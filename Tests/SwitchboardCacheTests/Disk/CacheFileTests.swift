@testable import SwitchboardCache
import Foundation
import Switchboard
import SwitchboardTesting
import SwitchboardTestSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct CacheFileTests {
    private func key(_ url: String = "https://h/a?b", partition: String = "p", identity: String = "i") throws
        -> CacheKey
    {
        try CacheKey(url, partition: partition, identity: identity)
    }

    private func response(
        status: Int = 200, _ body: Data = Data(), date: Date = Date(timeIntervalSince1970: 1_700_000_000.25),
        initialAge: Double = 1.5, variant: String = ""
    ) -> StoredResponse {
        StoredResponse(
            status: status, headers: ["A": "1", "B": "\u{e9}"], body: body, url: URL(text: "https://h/elsewhere"),
            variant: variant, responseTime: date, initialAge: initialAge, tags: ["x", "y"])
    }

    @Test("the checksum is rapidhash V3")
    func checksum() {
        // Computed by the reference implementation.
        let vectors: [(String, UInt64)] = [
            ("", 0x0338_DC4B_E2CE_CDAE), ("a", 0x599F_47DF_33A2_E1EB), ("abc", 0xCB47_5BEA_FA9C_0DA2),
            ("abcd", 0xF8F4_4F4A_65E2_6132), ("12345678", 0x27C2_7112_953C_D293),
            ("Nobody inspects the spammish repetition", 0x48B8_CE3A_8C6E_F968),
        ]
        for (text, sum) in vectors { #expect(CacheChecksum.of(text) == sum, "\(text)") }
        let bytes = (0..<4_096).map { UInt8(truncatingIfNeeded: ($0 * 7) >> 2) }
        let sums: [(Int, UInt64)] = [
            (3, 0xCFE7_2C5C_3D2F_D4A4), (7, 0x0E30_869B_3EED_7BA8), (16, 0x5E30_70F3_9391_70A4),
            (17, 0x1F9D_7F48_18A2_0CF1), (32, 0xC003_39B8_B870_2EB0), (33, 0x649A_D587_2F85_00DF),
            (48, 0x82A3_9348_55C3_32DD), (64, 0xCCB0_8852_7E27_6986), (80, 0x5891_19F6_18FE_6E0D),
            (96, 0xFDE1_DA88_C3AE_CF58), (112, 0x8B4A_109F_DE9D_993C), (113, 0x228A_8C81_B1EC_42AD),
            (224, 0x727D_7277_6E2C_084B), (225, 0x757E_B324_6DB5_7657), (1_000, 0xC402_3DDA_414B_A084),
            (4_096, 0xC7B8_7793_54CC_F784),
        ]
        for (count, sum) in sums {
            // Also at a place that is no multiple of eight.
            for start in [[], [0]] as [[UInt8]] {
                let copy = start + bytes.prefix(count)
                copy.withUnsafeBytes {
                    #expect(CacheChecksum.of(UnsafeRawBufferPointer(rebasing: $0[start.count...])) == sum, "\(count)")
                }
            }
        }
    }

    @Test("a file's name is read back, and another name is none", arguments: ["", "accept: a"])
    func name(variant: String) throws {
        let name = try CacheFileName(key()).with(variant: variant)
        func parsed(_ text: String) -> CacheFileName? { Array(text.utf8).withUnsafeBytes { CacheFileName($0) } }
        #expect(parsed(name.text) == name && name.text.utf8.count == (variant.isEmpty ? 92 : 109))
        for text in [
            name.text.uppercased(), name.text + "x", "x" + name.text.dropFirst(), name.text.replacing("-", with: "_"),
        ] {
            #expect(parsed(text) == nil)
        }
    }

    @Test("names differ by key, and contain the hashes of URL and partition")
    func marks() throws {
        let (one, query) = (try CacheFileName(key()), try CacheFileName(key("https://h/a?c")))
        #expect(
            one.keyHash.urlWithoutQuery == query.keyHash.urlWithoutQuery && one.keyHash.url != query.keyHash.url
                && one.key != query.key)
        let other = try CacheFileName(key(partition: "q"))
        #expect(
            other.keyHash.url == one.keyHash.url && other.keyHash.partition != one.keyHash.partition
                && other.key != one.key)
        let anna = try CacheFileName(key(identity: "anna"))
        #expect(anna.keyHash == one.keyHash && anna.key != one.key)
        #expect(
            try CacheFileName(key(partition: "p", identity: "ii")).key
                != CacheFileName(key(partition: "pi", identity: "i")).key)
    }

    @Test(
        "a response of any size is read back, and a changed byte is detected",
        arguments: [0, 1, 65_536, 200_001, 1_100_000])
    func files(size: Int) async throws {
        try await withFolder { url in
            let folder = CacheFolder(url)
            let body = Data((0..<size).lazy.map { UInt8(truncatingIfNeeded: $0 &* 7 >> 2) })
            let path = url.appendingPathComponent("file").path
            let draft = try CacheDraft(CacheHead.bytes(of: response(), key()), in: folder, limit: 2 << 20)
            for start in stride(from: 0, to: size, by: 50_001) {
                try draft.append(body[start..<min(start + 50_001, size)])
            }
            try draft.finish()
            try draft.commit(to: path)
            func read() throws -> (found: CacheHead.Found, body: Data)? {
                guard case .found(let found) = CacheFile.read(path) else { return nil }
                guard let file = found.response.file else { return (found, found.response.body) }
                return file.read(0..<file.bodyCount).map { (found, $0) }
            }
            let (found, bytes) = try #require(try read())
            #expect(bytes.startIndex == 0 && bytes + [1] == body + [1])
            #expect(bytes == body && found.url == "https://h/a?b" && found.partition == "p")
            let again = found.response
            #expect(again.status == 200 && again.headers == response().headers && again.url == response().url)
            #expect(
                again.responseTime == response().responseTime && again.initialAge == 1.5 && again.tags == ["x", "y"])
            if let file = again.file {
                for range in [0..<1, 65_535..<65_537, 100_000..<900_000, size - 1..<size, 5..<5] {
                    #expect(file.read(range) == body[range] && file.read(range)?.startIndex == 0)
                }
                #expect(file.read(0..<size + 1) == nil)
            }
            let whole = try Data(contentsOf: URL(fileURLWithPath: path))
            let end = CacheFile.headStart(size)
            let places =
                [0, size - 1, size, end - 1] + [0, 8, 16, 24, 40].flatMap { [end + $0, whole.count - 1 - $0] }
            for place in places where place >= 0 {
                var changed = whole
                changed[place] ^= 4
                try changed.write(to: URL(fileURLWithPath: path))
                #expect(try read() == nil, "\(place)")
            }
            for count in [0, 31, 40, whole.count / 2, whole.count - 1] {
                try whole.prefix(count).write(to: URL(fileURLWithPath: path))
                #expect(try read() == nil, "\(count)")
            }
        }
    }

    @Test(
        "a head contains the rules of its response",
        arguments: [
            ["Cache-Control": "max-age=5, must-revalidate, private"], ["Cache-Control": "no-cache, public"],
            ["Cache-Control": "no-store, must-understand"], ["Cache-Control": "immutable, max-age=0"],
            ["Cache-Control": "stale-if-error=3, stale-while-revalidate=7"],
            ["Last-Modified": "Mon, 06 Nov 2023 08:49:37 GMT"],
            ["Expires": "Tue, 14 Nov 2023 22:15:00 GMT", "Date": "Tue, 14 Nov 2023 22:14:00 GMT"], ["Expires": "0"],
            [:],
        ] as [HTTPHeaders])
    func rules(headers: HTTPHeaders) throws {
        let date = Date(timeIntervalSince1970: 1_700_000_000)
        let response = StoredResponse(
            status: 200, headers: headers, body: Data(), url: nil, variant: "", responseTime: date, initialAge: 0,
            tags: [])
        let bytes = CacheHead.end(try CacheHead.bytes(of: response, key()), bodyCount: 0)
        let head = try #require(bytes.withUnsafeBytes { CacheHead.read($0) }).response
        #expect("\(head.rules)" == "\(response.rules)" && head.headers == headers)
        #expect("\(response.rules)".contains("isImmutable"))
    }

    @Test("a head with a number that no cache writes is damaged")
    func numbers() throws {
        func read(_ response: StoredResponse) throws -> CacheHead.Found? {
            let head = try CacheHead.bytes(of: response, key())
            return CacheHead.end(head, bodyCount: 0).withUnsafeBytes { CacheHead.read($0) }
        }
        #expect(try read(response()) != nil)
        #expect(try read(response(status: -7)) == nil)
        #expect(try read(response(date: Date(timeIntervalSince1970: -1e300))) == nil)
        #expect(try read(response(date: Date(timeIntervalSince1970: .nan))) == nil)
        #expect(try read(response(initialAge: 1e300)) == nil)
    }

    @Test("a locked draft is not swept, and a released one is removed")
    func waitingDraft() async throws {
        try await withFolder { url in
            let folder = CacheFolder(url)
            var draft: CacheDraft? = try CacheDraft([1], in: folder, limit: 1_000)
            draft?.lock()
            let name = try #require(folder.list()?.leftovers.first)
            let old = [FileAttributeKey.modificationDate: Date(timeIntervalSinceNow: -1_000)]
            try FileManager.default.setAttributes(old, ofItemAtPath: url.appendingPathComponent(name).path)
            folder.sweep([name])
            #expect(folder.list()?.leftovers == [name] && draft?.bodyCount == 0)
            draft = nil
            #expect(folder.list()?.leftovers == [])
        }
    }

    @Test("memory reports the uses of files, also of responses that it evicted")
    func uses() throws {
        var memory = MemoryCache(limit: 100_000, countLimit: 2)
        let request = NetworkRequest(.get, URL(text: "https://h/"))
        let keys = try (0..<3).map { try key("https://h/\($0)") }
        let names = try keys.map { try CacheFileName($0) }
        for index in 0..<3 { memory.insert(response(), keys[index], names[index]) }
        let first = memory.takeUses().map(\.file)
        #expect(Set(first) == Set(names) && first.count == 3)
        _ = memory.find(keys[1], request)
        let second = memory.takeUses().map(\.file)
        #expect(second == [names[1]])
        memory.insertRead(response(), keys[0], names[0])
        let third = memory.takeUses().map(\.file)
        #expect(third == [names[0]])
    }

    @Test("a draft refuses what is larger than its limit, and leaves nothing")
    func draftLimit() async throws {
        try await withFolder { url in
            do {
                let draft = try CacheDraft([1], in: CacheFolder(url), limit: 1_000)
                try draft.append(Data(count: 900))
                #expect(throws: POSIXError.self) { try draft.append(Data(count: 100)) }
                #expect(try FileManager.default.contentsOfDirectory(atPath: url.path).count == 1)
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: url.path).isEmpty)
        }
    }

    @Test("memory evicts by last use, within its limits of bytes and count")
    func memory() throws {
        var memory = MemoryCache(limit: 100_000, countLimit: 5)
        let request = NetworkRequest(.get, URL(text: "https://h/"))
        let keys = try (0..<10).map { try key("https://h/\($0)") }
        for index in 0..<8 {
            let isStored = memory.insert(response(Data(count: index)), keys[index])
            let found = memory.find(keys[0], request)
            #expect(isStored && found != nil)
        }
        #expect(memory.count == 5 && memory.evictions == 3)
        #expect(
            keys.map { memory.peek($0, request) != nil } == [
                true, false, false, false, true, true, true, true, false, false,
            ])
        // A look does not count as a use.
        _ = memory.peek(keys[4], request)
        memory.insert(response(), keys[8])
        #expect(memory.peek(keys[4], request) == nil)
        memory.insert(response(Data(count: 90_000)), keys[9])
        #expect(memory.size <= 100_000 && memory.peek(keys[9], request) != nil)
        let isStored = memory.insert(response(Data(count: 100_000)), keys[9])
        #expect(!isStored)
        memory.remove { key, _, _ in key.url.hasSuffix("0") }
        #expect(memory.peek(keys[0], request) == nil)
        memory.removeAll()
        #expect(memory.count == 0 && memory.size == 0)
    }

    @Test("without Vary, only a response without a variant matches", arguments: ["", "x-unit: m", "sha256:0"])
    func withoutVary(variant: String) {
        let request = NetworkRequest(.get, URL(text: "https://h/"))
        #expect(response(variant: variant).matches(request) == variant.isEmpty)
    }

    @Test("memory counts its size over many insertions, removals and variants")
    func memoryModel() throws {
        var memory = MemoryCache(limit: 40_000, countLimit: 50)
        var generator = SystemRandomNumberGenerator()
        let keys = try (0..<20).map { try key("https://h/\($0)") }
        for _ in 0..<5_000 {
            let key = keys[Int.random(in: 0..<20, using: &generator)]
            let variant = "v\(Int.random(in: 0..<20, using: &generator))"
            switch Int.random(in: 0..<10, using: &generator) {
            case 0: memory.remove(key) { $0.variant == variant }
            case 1: memory.remove { other, _, _ in other == key }
            default: memory.insert(response(Data(count: Int.random(in: 0..<3_000)), variant: variant), key)
            }
            let all = keys.map { memory.variants(of: $0) }
            #expect(all.map(\.count).reduce(0, +) == memory.count && memory.count <= 50)
            #expect(all.allSatisfy { $0.count <= 16 && Set($0.map(\.variant)).count == $0.count })
            let size = zip(all, keys).map { all, key in all.map { $0.size + key.url.utf8.count + 1 }.reduce(0, +) }
                .reduce(0, +)
            #expect(size == memory.size && size <= 40_000)
        }
    }

    @Test("the size of a response counts the stored names of its Vary")
    func sizeOfVary() {
        let sizes = ["Vary", "Very"].map { name in
            StoredResponse(
                status: 200, headers: [name: "accept, x-unit"], body: Data(), url: nil, variant: "",
                responseTime: Date(), initialAge: 0, tags: []
            ).size
        }
        #expect(sizes[0] >= sizes[1] + "acceptx-unit".utf8.count)
    }

    @Test("the disk keeps its limit of files")
    func diskCount() async throws {
        try await withFolder { folder in
            let disk = try DiskCache(folder, limit: 1 << 20, countLimit: 3)
            for index in 0..<8 {
                try disk.write(response(), key("https://h/\(index)"))
                disk.scanSizes()
            }
            #expect(disk.count == 3 && disk.evictions == 5 && disk.size == 3 * 4_096)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 3)
        }
    }
}
