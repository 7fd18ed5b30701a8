// swift-tools-version: 6.1
// The code of the article "Using Other Libraries", built and tested with swift-http-types. Its URLSession extensions are
// also the library that runs over a manager's URLSession.
import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
    name: "Interop",
    platforms: [.macOS(.v13)],
    dependencies: [
        .package(name: "Switchboard", path: "../../.."),
        .package(url: "https://github.com/apple/swift-http-types.git", from: "1.3.0"),
    ],
    targets: [
        // The part of swift-openapi-runtime that the article needs.
        .target(
            name: "OpenAPIRuntime", dependencies: [.product(name: "HTTPTypes", package: "swift-http-types")],
            swiftSettings: settings),
        .target(
            name: "Interop",
            dependencies: [
                "OpenAPIRuntime",
                .product(name: "Switchboard", package: "Switchboard"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "InteropTests",
            dependencies: [
                "Interop", "OpenAPIRuntime",
                .product(name: "SwitchboardURLSession", package: "Switchboard"),
                .product(name: "SwitchboardTesting", package: "Switchboard"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "HTTPTypesFoundation", package: "swift-http-types"),
            ],
            swiftSettings: settings),
    ],
    swiftLanguageModes: [.v6]
)
