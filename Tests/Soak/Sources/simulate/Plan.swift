/// What a seed decides before a run: the app, the faults of its servers, and the actions.
struct Plan {
    /// One action of the app, its user or a server.
    struct Action {
        /// The number, which also names the call that the action starts.
        let id: Int
        /// The time in milliseconds.
        var time: Int
        var kind: Kind
    }

    enum Kind {
        case call(Operation)
        case cancelTask(Int), cancelHandle(Int), cancelManager, cancelRouter
        case reset, switchEnvironment, signIn(Int, lifetime: Int), signOut(Int)
        case limit(Int)
        case revoke(Int), restart, outage(milliseconds: Int), change(Int)
    }

    /// One call of the app.
    struct Operation {
        enum Kind: Int, CaseIterable {
            case get, handle, post, keyedPost, put, redirectedPost, redirect, foreign, stream, events, pages
        }

        let kind: Kind
        let item: Int
        /// Whether a separate router sends it, in place of the manager.
        let usesRouter: Bool
        /// The total timeout in milliseconds, or nil.
        let total: Int?
        /// Whether it loads anew although a response is stored.
        let isRefreshing: Bool
        /// The number of chunks or events after which the reader stops.
        let limit: Int

        /// Whether a deduplicator may share the request.
        var isShareable: Bool { [.get, .handle, .redirect, .foreign, .pages].contains(kind) }

        /// A number that equal requests share.
        var resource: Int {
            switch kind {
            case .pages: -1
            case .handle: Kind.get.rawValue * 8 + item
            default: kind.rawValue * 8 + item
            }
        }
    }

    enum CachePosition: Int { case none, first, last }
    enum Order: Int { case fifo, lifo, random }

    /// The interceptors and the faults, in thousandths.
    struct Setup {
        var cache = CachePosition.none
        var deduplicates = false
        var hedges = false
        var limit: Int?
        var rate: Int?
        var breaks = false
        var resetsWhenRefused = false
        var hasCookies = false
        var sendsDate = false
        var order = Order.random
        var lostBefore = 0, lostAfter = 0, unavailable = 0, tooMany = 0, slow = 0, stalled = 0, duplicated = 0
    }

    let seed: UInt64
    var setup = Setup()
    var actions: [Action] = []

    init(seed: UInt64, calls: Int) {
        self.seed = seed
        var random = SeededGenerator(seed, 1)
        setup.cache = CachePosition(rawValue: random.number(0...2)) ?? .none
        setup.deduplicates = random.number(0...1) == 1
        setup.hedges = random.number(0...1) == 1
        setup.limit = random.number(0...2) > 0 ? random.number(1...4) : nil
        setup.rate = random.number(0...3) == 0 ? random.number(2...6) : nil
        setup.breaks = random.number(0...1) == 1
        setup.resetsWhenRefused = random.number(0...2) == 0
        setup.hasCookies = random.number(0...3) > 0
        setup.sendsDate = random.number(0...1) == 1
        setup.order = Order(rawValue: random.number(0...3)) ?? .random
        let isCalm = random.number(0...3) == 0
        func share(_ most: Int) -> Int { isCalm ? 0 : random.number(0...most) }
        (setup.lostBefore, setup.lostAfter, setup.unavailable) = (share(80), share(80), share(120))
        (setup.tooMany, setup.slow, setup.stalled, setup.duplicated) = (share(60), share(120), share(30), share(80))
        let length = random.number(20...90) * 1_000
        for id in 0..<calls {
            // Times and latencies share a grid of 10 ms, so that events coincide often.
            let time = random.number(0...length / 10) * 10
            actions.append(Action(id: id, time: time, kind: Self.kind(&random)))
        }
        actions.sort { ($0.time, $0.id) < ($1.time, $1.id) }
        for index in actions.indices {
            // Some actions race.
            if index > 0, random.number(0...3) == 0 { actions[index].time = actions[index - 1].time }
            // A call that has probably not ended.
            let target = actions[max(0, index - random.number(1...5))].id
            switch actions[index].kind {
            case .cancelTask: actions[index].kind = .cancelTask(target)
            case .cancelHandle: actions[index].kind = .cancelHandle(target)
            default: break
            }
        }
    }

    private static func kind(_ random: inout SeededGenerator) -> Kind {
        switch random.number(0...99) {
        case 0..<12: return .cancelTask(0)
        case 12..<15: return .cancelHandle(0)
        case 15: return .cancelManager
        case 16: return .cancelRouter
        case 17: return .reset
        case 18..<21: return .switchEnvironment
        case 21..<23: return .signIn(random.number(0...1), lifetime: random.number(0...5) * 10_000)
        case 23: return .signOut(random.number(0...1))
        case 24: return .limit(random.number(1...4))
        case 25..<28: return .revoke(random.number(0...1))
        case 28: return .restart
        case 29: return .outage(milliseconds: random.number(1...40) * 100)
        case 30..<33: return .change(random.number(0...4))
        default:
            let kinds = Operation.Kind.allCases
            let kind = random.number(0...2) == 0 ? Operation.Kind.get : kinds[random.number(0...kinds.count - 1)]
            return .call(
                Operation(
                    kind: kind, item: random.number(0...4), usesRouter: random.number(0...2) == 0,
                    total: random.number(0...4) == 0 ? random.number(1...60) * 100 : nil,
                    isRefreshing: random.number(0...9) == 0, limit: random.number(1...12)))
        }
    }
}
