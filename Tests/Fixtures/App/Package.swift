// swift-tools-version: 6.2
import PackageDescription

// An app as Xcode 26 creates it: its targets belong to the main actor. scripts/packages/app builds it in Swift 5 and
// Swift 6 mode, with and without NonisolatedNonsendingByDefault.
let settings: [SwiftSetting] =
    [.defaultIsolation(MainActor.self)]
    + (Context.environment["APP_NONSENDING"] == nil ? [] : [.enableUpcomingFeature("NonisolatedNonsendingByDefault")])

let package = Package(
    name: "App",
    platforms: [.macOS(.v13)],
    dependencies: [.package(name: "Switchboard", path: "../../..")],
    targets: [
        .target(
            name: "App",
            dependencies: [
                .product(name: "Switchboard", package: "Switchboard"),
                .product(name: "SwitchboardAuth", package: "Switchboard"),
                .product(name: "SwitchboardCache", package: "Switchboard"),
                .product(name: "SwitchboardCalls", package: "Switchboard"),
                .product(name: "SwitchboardStreams", package: "Switchboard"),
                .product(name: "SwitchboardWebSocket", package: "Switchboard"),
            ],
            swiftSettings: settings),
        .testTarget(
            name: "AppTests",
            dependencies: [
                "App",
                .product(name: "Switchboard", package: "Switchboard"),
                .product(name: "SwitchboardCalls", package: "Switchboard"),
                .product(name: "SwitchboardStreams", package: "Switchboard"),
                .product(name: "SwitchboardWebSocket", package: "Switchboard"),
                .product(name: "SwitchboardTesting", package: "Switchboard"),
            ],
            swiftSettings: settings),
    ],
    swiftLanguageModes: [Context.environment["APP_SWIFT"] == "5" ? .v5 : .v6]
)
