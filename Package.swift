// swift-tools-version: 6.1
import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
]
let core: [Target.Dependency] = ["Switchboard", "SwitchboardJSON", "SwitchboardPlatform", "SwitchboardText"]

// Each product is one target. Except for the first two, all depend on the core, and some on another one.
let products: KeyValuePairs<String, [Target.Dependency]> = [
    "Switchboard": [
        "SwitchboardJSON", "SwitchboardPlatform", "SwitchboardText",
        .target(name: "SwitchboardCurl", condition: .when(platforms: [.linux])),
    ],
    "SwitchboardJSON": [],
    "SwitchboardAuth": core,
    "SwitchboardCache": core,
    "SwitchboardCalls": core,
    "SwitchboardCookies": core,
    "SwitchboardHAR": core,
    "SwitchboardResilience": core,
    "SwitchboardStreams": core,
    "SwitchboardWebSocket": core,
    "SwitchboardMocks": core + ["SwitchboardHAR"],
    "SwitchboardTesting": core + ["SwitchboardMocks"],
]

let tested =
    products.map { Target.Dependency(stringLiteral: $0.key) }
    + ["SwitchboardTestSupport", "SwitchboardPlatform", "SwitchboardText", "SwitchboardCurl"]

let package = Package(
    name: "Switchboard",
    platforms: [.macOS(.v13), .iOS(.v16), .tvOS(.v16), .watchOS(.v9), .visionOS(.v1)],
    products: products.map { .library(name: $0.key, targets: [$0.key]) },
    targets: products.map { .target(name: $0.key, dependencies: $0.value, swiftSettings: settings) } + [
        // The differences between systems. Internal: not a product.
        .target(name: "SwitchboardPlatform", swiftSettings: settings),
        // URLs, header values, messages and secrets as text. Internal: not a product.
        .target(name: "SwitchboardText", swiftSettings: settings),
        // Exchanges over the system's libcurl, which is loaded at run time. Empty except on Linux. Internal: not a product.
        .target(
            name: "SwitchboardCurl", dependencies: ["SwitchboardCurlC", "SwitchboardPlatform"],
            swiftSettings: settings),
        .target(name: "SwitchboardCurlC"),
        // For tests only: other programs as clients and servers, and the trait that names requirements.
        .target(name: "SwitchboardTestSupport", path: "Tests/SwitchboardTestSupport", swiftSettings: settings),
        .testTarget(
            name: "SwitchboardTests", dependencies: tested, exclude: ["Gallery/ErrorGallery.md"],
            swiftSettings: settings),
        .testTarget(
            name: "SwitchboardTestingTests", dependencies: tested, exclude: ["Cassette/Cassettes"],
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
