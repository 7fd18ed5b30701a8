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
    "SwitchboardInspector": core + ["SwitchboardHAR", "SwitchboardMocks"],
    "SwitchboardResilience": core,
    "SwitchboardStreams": core,
    "SwitchboardURLSession": core,
    "SwitchboardWebSocket": core,
    "SwitchboardContracts": core + ["SwitchboardHAR"],
    "SwitchboardMocks": core + ["SwitchboardContracts", "SwitchboardHAR"],
    "SwitchboardTesting": core + ["SwitchboardMocks"],
]

// Each product has a test target. That of the mocks also tests the assertions of SwitchboardTesting.
let support: [Target.Dependency] = ["SwitchboardTestSupport", "SwitchboardTesting"]
let tests = products.filter { !["SwitchboardMocks", "SwitchboardTesting"].contains($0.key) }.map {
    product, dependencies in
    Target.testTarget(
        name: product + "Tests", dependencies: [.byName(name: product)] + dependencies + support,
        swiftSettings: settings)
}

// Apple's store needs the reasons why the package reads metadata of files.
let privacyManifest = "PrivacyInfo.xcprivacy"
#if canImport(Darwin)
let (privacyResources, privacyExcludes) = ([Resource.copy(privacyManifest)], [String]())
#else
let (privacyResources, privacyExcludes) = ([Resource](), [privacyManifest])
#endif

let package = Package(
    name: "Switchboard",
    platforms: [.macOS(.v13), .iOS(.v16), .tvOS(.v16), .watchOS(.v9), .visionOS(.v1)],
    products: products.map { .library(name: $0.key, targets: [$0.key]) },
    targets: products.map { .target(name: $0.key, dependencies: $0.value, swiftSettings: settings) } + [
        // The differences between systems. Internal: not a product.
        .target(
            name: "SwitchboardPlatform", exclude: privacyExcludes, resources: privacyResources, swiftSettings: settings),
        // URLs, header values, messages and secrets as text. Internal: not a product.
        .target(name: "SwitchboardText", swiftSettings: settings),
        // Exchanges over the system's libcurl, which is loaded at run time. Empty except on Linux. Internal: not a product.
        .target(
            name: "SwitchboardCurl", dependencies: ["SwitchboardCurlC", "SwitchboardPlatform"],
            swiftSettings: settings),
        .target(name: "SwitchboardCurlC"),
        // For tests only: helpers, servers, other programs as clients, and the trait that names requirements.
        .target(
            name: "SwitchboardTestSupport",
            dependencies: core + ["SwitchboardCurl", "SwitchboardMocks", "SwitchboardTestSetup"],
            path: "Tests/SwitchboardTestSupport", swiftSettings: settings),
        // Sets limits of concurrent tests and of descriptors, and removes proxies of the environment.
        .target(name: "SwitchboardTestSetup", path: "Tests/SwitchboardTestSetup"),
        .testTarget(
            name: "SwitchboardMocksTests",
            dependencies: core + ["SwitchboardContracts", "SwitchboardWebSocket"] + support,
            exclude: ["Cassette/Cassettes"], swiftSettings: settings),
        // Tests that combine products.
        .testTarget(
            name: "SwitchboardIntegrationTests",
            dependencies: products.map { .byName(name: $0.key) } + ["SwitchboardTestSupport"],
            exclude: ["Gallery/ErrorGallery.md"], swiftSettings: settings),
        // The fourth design's MovieApi as published, with its own NetworkEnvironment and NetworkManager. In a separate
        // module those two types do not shadow the library's in the other tests.
        .testTarget(
            name: "SwitchboardArticleTests",
            dependencies: ["SwitchboardTestSupport", "Switchboard", "SwitchboardTesting"],
            swiftSettings: settings),
    ] + tests,
    swiftLanguageModes: [.v6]
)
