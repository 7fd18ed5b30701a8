import Switchboard

/// The words in an environment's movie titles. Each environment has different ones, so a table shows its environment at
/// a glance.
nonisolated struct WordLists: Sendable {
    let adjectives: [String]
    let nouns: [String]
    /// Complete titles, in scripts of many widths.
    let titles: [String]

    static func of(_ environment: NetworkEnvironment) -> WordLists {
        switch environment {
        case .production: production
        case .staging: staging
        default: qa
        }
    }

    private static let production = WordLists(
        adjectives: [
            "Amber", "Borrowed", "Copper", "Distant", "Eleventh", "Folded", "Gentle", "Hollow", "Inland", "Juniper",
            "Lantern",
        ],
        nouns: [
            "Almanac", "Beekeepers", "Cartographer", "Drawbridge", "Envelope", "Ferryman", "Greenhouse",
            "Harbour Pilots",
            "Icehouse", "Jetty", "Kingfishers", "Lockkeeper", "Marmalade",
        ],
        titles: [
            "七つの青い電話", "유리 우산과 등대지기", "Тёплый самовар на Марсе", "Zażółcone żółwie śpiewają",
            "Con mèo và chiếc ra-đi-ô",
            "The Extraordinarily Long Winter Journey of Postmistress Ottilie Brandt",
        ])

    private static let staging = WordLists(
        adjectives: [
            "Provisional", "Half-Lit", "Understudied", "Prompted", "Unpainted", "Rerun", "Early", "Backstage", "Taped",
            "Whispered",
            "Curtained",
        ],
        nouns: [
            "Dress Rehearsal", "Curtain", "Prompter", "Stagehands", "Footlights", "Second Cast", "Trapdoor", "Wardrobe",
            "Preview",
            "Greasepaint", "Backdrop", "Cue Card", "Box Office",
        ],
        titles: [
            "舞台裏の稽古", "두 번째 리허설", "Генеральная репетиция без зрителей", "Próba generalna w piątek", "Buổi tổng duyệt",
            "The Dress Rehearsal That Went on Until Everybody Had Gone Home",
        ])

    private static let qa = WordLists(
        adjectives: [
            "Flaky", "Mocked", "Off-by-One", "Nullable", "Skipped", "Asserted", "Quarantined", "Blocked", "Unhandled",
            "Leaking",
            "Reopened",
        ],
        nouns: [
            "Assertion", "Test Plan", "Edge Case", "Stack Trace", "Fixture", "Bug Report", "Regression", "Timeout",
            "Checklist",
            "Breakpoint", "Test Double", "Coverage", "Release Blocker",
        ],
        titles: [
            "検査員と虫 🐛", "회귀 테스트의 밤", "Тест, который не упал", "Błąd numer jeden", "Lỗi số không 🧪",
            "The Test With a Name So Long That No Column of Any Table Could Ever Hold It",
        ])
}
