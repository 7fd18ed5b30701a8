// swift-tools-version: 6.1
// The code of the article "Writing a Session", built over async-http-client and tested against a server.
import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
    name: "Clients",
    platforms: [.macOS(.v13)],
    dependencies: [
        .package(name: "Switchboard", path: "../../.."),
        .package(url: "https://github.com/swift-server/async-http-client.git", from: "1.24.0"),
        .package(url: "https://github.com/apple/swift-nio.git", from: "2.81.0"),
        .package(url: "https://github.com/apple/swift-nio-extras.git", from: "1.24.0"),
    ],
    targets: [
        .target(
            name: "Clients",
            dependencies: [
                .product(name: "Switchboard", package: "Switchboard"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOFoundationCompat", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOHTTPCompression", package: "swift-nio-extras"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "ClientsTests",
            dependencies: [
                "Clients",
                .product(name: "SwitchboardTesting", package: "Switchboard"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
            ],
            swiftSettings: settings),
    ],
    swiftLanguageModes: [.v6]
)
