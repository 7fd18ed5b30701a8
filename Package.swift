// swift-tools-version: 6.1
import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

let core: [Target.Dependency] = ["Switchboard", "SwitchboardJSON", "SwitchboardPlatform", "SwitchboardText"]

let products: [Target.Dependency] = [
    "Switchboard", "SwitchboardJSON", "SwitchboardAuth", "SwitchboardCache", "SwitchboardResilience",
    "SwitchboardTransfers",
    "SwitchboardHAR", "SwitchboardCookies", "SwitchboardPaging", "SwitchboardCalls", "SwitchboardStreams",
    "SwitchboardInterceptors", "SwitchboardWebSocket",
    "SwitchboardMocks", "SwitchboardTesting",
]

let package = Package(
    name: "Switchboard",
    platforms: [.macOS(.v13), .iOS(.v16), .tvOS(.v16), .watchOS(.v9), .visionOS(.v1)],
    products: [
        .library(name: "Switchboard", targets: ["Switchboard"]),
        .library(name: "SwitchboardJSON", targets: ["SwitchboardJSON"]),
        .library(name: "SwitchboardAuth", targets: ["SwitchboardAuth"]),
        .library(name: "SwitchboardCache", targets: ["SwitchboardCache"]),
        .library(name: "SwitchboardResilience", targets: ["SwitchboardResilience"]),
        .library(name: "SwitchboardTransfers", targets: ["SwitchboardTransfers"]),
        .library(name: "SwitchboardHAR", targets: ["SwitchboardHAR"]),
        .library(name: "SwitchboardCookies", targets: ["SwitchboardCookies"]),
        .library(name: "SwitchboardPaging", targets: ["SwitchboardPaging"]),
        .library(name: "SwitchboardCalls", targets: ["SwitchboardCalls"]),
        .library(name: "SwitchboardStreams", targets: ["SwitchboardStreams"]),
        .library(name: "SwitchboardInterceptors", targets: ["SwitchboardInterceptors"]),
        .library(name: "SwitchboardWebSocket", targets: ["SwitchboardWebSocket"]),
        .library(name: "SwitchboardTesting", targets: ["SwitchboardTesting"]),
        .library(name: "SwitchboardMocks", targets: ["SwitchboardMocks"]),
    ],
    targets: [
        .target(
            name: "Switchboard",
            dependencies: [
                "SwitchboardJSON", "SwitchboardPlatform", "SwitchboardText",
                .target(name: "SwitchboardCurl", condition: .when(platforms: [.linux])),
            ],
            swiftSettings: settings),
        // Has no dependencies.
        .target(name: "SwitchboardJSON", swiftSettings: settings),
        // The differences between systems. Internal: not a product.
        .target(name: "SwitchboardPlatform", swiftSettings: settings),
        // URLs, header values, messages and secrets as text. Internal: not a product.
        .target(name: "SwitchboardText", swiftSettings: settings),
        // Exchanges over the system's libcurl, which is loaded at run time. Empty except on Linux. Internal: not a product.
        .target(
            name: "SwitchboardCurl", dependencies: ["SwitchboardCurlC", "SwitchboardPlatform"],
            swiftSettings: settings),
        .target(name: "SwitchboardCurlC"),
        // Each depends on the core and on the core's dependencies.
        .target(name: "SwitchboardAuth", dependencies: core, swiftSettings: settings),
        .target(name: "SwitchboardCache", dependencies: core, swiftSettings: settings),
        .target(name: "SwitchboardWebSocket", dependencies: core, swiftSettings: settings),
        .target(name: "SwitchboardResilience", dependencies: core, swiftSettings: settings),
        .target(name: "SwitchboardTransfers", dependencies: core, swiftSettings: settings),
        .target(name: "SwitchboardHAR", dependencies: core, swiftSettings: settings),
        .target(name: "SwitchboardCookies", dependencies: core, swiftSettings: settings),
        .target(name: "SwitchboardPaging", dependencies: core, swiftSettings: settings),
        .target(name: "SwitchboardCalls", dependencies: core, swiftSettings: settings),
        .target(name: "SwitchboardStreams", dependencies: core, swiftSettings: settings),
        .target(name: "SwitchboardInterceptors", dependencies: core, swiftSettings: settings),
        // Mocks without a test framework, also for debug builds and previews.
        .target(name: "SwitchboardMocks", dependencies: core + ["SwitchboardHAR"], swiftSettings: settings),
        // Mocks and test assertions.
        .target(
            name: "SwitchboardTesting", dependencies: core + ["SwitchboardMocks"], swiftSettings: settings),
        // For tests only: other programs as clients and servers, and the trait that names requirements.
        .target(name: "SwitchboardTestSupport", path: "Tests/SwitchboardTestSupport", swiftSettings: settings),
        .testTarget(
            name: "SwitchboardTests",
            dependencies: ["SwitchboardTestSupport", "SwitchboardPlatform", "SwitchboardText", "SwitchboardCurl"]
                + products,
            exclude: ["Gallery/ErrorGallery.md"], swiftSettings: settings),
        .testTarget(
            name: "SwitchboardTestingTests",
            dependencies: ["SwitchboardTestSupport", "SwitchboardPlatform", "SwitchboardText", "SwitchboardCurl"]
                + products,
            exclude: ["Cassette/Cassettes"],
            swiftSettings: settings),
        .testTarget(name: "SwitchboardJSONTests", dependencies: ["SwitchboardJSON"], swiftSettings: settings),
        // The fourth design's MovieApi as published, with its own NetworkEnvironment and NetworkManager. In a separate
        // module those two types do not shadow the library's in the other tests.
        .testTarget(
            name: "SwitchboardArticleTests",
            dependencies: ["SwitchboardTestSupport", "Switchboard", "SwitchboardTesting"],
            swiftSettings: settings),
    ],
    swiftLanguageModes: [.v6]
)
