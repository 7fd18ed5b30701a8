// swift-tools-version: 6.1
import PackageDescription

let names = [
    "Switchboard", "SwitchboardJSON", "SwitchboardAuth", "SwitchboardCache", "SwitchboardContracts",
    "SwitchboardCookies",
    "SwitchboardHAR", "SwitchboardMocks", "SwitchboardStreams", "SwitchboardWebSocket",
]

// `scripts/fuzz` builds the program: it enables testing, the sanitizers and the counters of libFuzzer.
let package = Package(
    name: "Fuzz",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "Switchboard", path: "../..")],
    targets: [
        .systemLibrary(name: "CFuzzer"),
        .executableTarget(
            name: "fuzz",
            dependencies: ["CFuzzer"] + names.map { .product(name: $0, package: "Switchboard") },
            swiftSettings: [
                .enableUpcomingFeature("ExistentialAny"),
                .enableUpcomingFeature("MemberImportVisibility"),
            ]),
    ],
    swiftLanguageModes: [.v6]
)
