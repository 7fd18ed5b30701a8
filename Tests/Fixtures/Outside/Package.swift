// swift-tools-version: 6.1
import PackageDescription

// Target names that an app may well have. Switchboard's examples, C module and test support once used most of them.
let names = ["ArticleTests", "CCurl", "ExampleKit", "Friends", "Movies", "Programs", "Todos", "Uploads", "Users"]
let named: [Target] = names.map { name in
    .target(
        name: name, dependencies: [.product(name: "Switchboard", package: "Switchboard")], path: "Sources/Names/\(name)"
    )
}

// Another developer's package: it uses only the public products and the README.
let package = Package(
    name: "Outside",
    platforms: [.macOS(.v13)],
    dependencies: [.package(name: "Switchboard", path: "../../..")],
    targets: named + [
        .executableTarget(
            name: "names-list",
            dependencies: names.map { .byName(name: $0) } + [
                .product(name: "Switchboard", package: "Switchboard"),
                .product(name: "SwitchboardMocks", package: "Switchboard"),
            ]),
        .target(name: "Films", dependencies: [.product(name: "Switchboard", package: "Switchboard")]),
        .executableTarget(
            name: "films-list", dependencies: ["Films", .product(name: "Switchboard", package: "Switchboard")]),
        .testTarget(
            name: "FilmsTests",
            dependencies: [
                "Films", .product(name: "Switchboard", package: "Switchboard"),
                .product(name: "SwitchboardTesting", package: "Switchboard"),
            ],
            exclude: ["Cassettes"]),
        // Writes seeded forms and their expected parts, for scripts/oracles/multipart-oracles.
        .executableTarget(
            name: "multipart-bodies", dependencies: [.product(name: "Switchboard", package: "Switchboard")]),
        // Moves a file, for scripts/oracles/resume-kill and scripts/oracles/transfer-memory.
        .executableTarget(
            name: "transfer",
            dependencies: [
                .product(name: "Switchboard", package: "Switchboard"),
                .product(name: "SwitchboardStreams", package: "Switchboard"),
                .product(name: "SwitchboardURLSession", package: "Switchboard"),
            ]),
        // Uses a cache in a folder, for scripts/oracles/cache-kill.
        .executableTarget(
            name: "cache-run",
            dependencies: [
                .product(name: "Switchboard", package: "Switchboard"),
                .product(name: "SwitchboardCache", package: "Switchboard"),
            ]),
        // Signs in, refreshes and revokes, for scripts/oracles/oauth-provider.
        .executableTarget(
            name: "oauth-client",
            dependencies: [
                .product(name: "Switchboard", package: "Switchboard"),
                .product(name: "SwitchboardAuth", package: "Switchboard"),
            ]),
        // Serves every fault of a MockServer on a separate port, for scripts/oracles/faults-witness.
        .executableTarget(
            name: "fault-server",
            dependencies: [
                .product(name: "Switchboard", package: "Switchboard"),
                .product(name: "SwitchboardMocks", package: "Switchboard"),
            ]),
        // Makes calls through caches, for scripts/oracles/cache.
        .executableTarget(
            name: "cache-witness",
            dependencies: [
                .product(name: "Switchboard", package: "Switchboard"),
                .product(name: "SwitchboardCache", package: "Switchboard"),
            ]),
        // Opens WebSockets of other programs, for scripts/oracles/websocket.
        .executableTarget(
            name: "websocket-run",
            dependencies: [
                .product(name: "Switchboard", package: "Switchboard"),
                .product(name: "SwitchboardWebSocket", package: "Switchboard"),
            ]),
        // Shows calls of each kind in an inspector, for scripts/oracles/inspector.
        .executableTarget(
            name: "inspector-run",
            dependencies: [
                "Switchboard", "SwitchboardCache", "SwitchboardInspector", "SwitchboardMocks", "SwitchboardStreams",
                "SwitchboardWebSocket",
            ].map { .product(name: $0, package: "Switchboard") }),
        // Makes calls to a server that fails by a seed, run by .ci/run.
        .executableTarget(
            name: "fault-run",
            dependencies: [
                .product(name: "Switchboard", package: "Switchboard"),
                .product(name: "SwitchboardResilience", package: "Switchboard"),
                .product(name: "SwitchboardMocks", package: "Switchboard"),
            ]),
    ]
)
