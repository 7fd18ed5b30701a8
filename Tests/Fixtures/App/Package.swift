// swift-tools-version: 6.2
import PackageDescription

// An app as Xcode 26 creates it: Swift 5 mode, and targets of the main actor with the features of Xcode's settings
// "Approachable Concurrency" and "Member Import Visibility". scripts/packages/app also builds it in Swift 6 mode, and
// without these features.
let isSwift5 = Context.environment["APP_SWIFT"] == "5"
// Swift 6 mode has the last three.
let features =
    ["NonisolatedNonsendingByDefault", "InferIsolatedConformances", "MemberImportVisibility"]
    + (isSwift5
        ? ["DisableOutwardActorInference", "GlobalActorIsolatedTypesUsability", "InferSendableFromCaptures"] : [])
let settings: [SwiftSetting] =
    [.defaultIsolation(MainActor.self)]
    + (Context.environment["APP_FEATURES"] == nil ? [] : features.map { .enableUpcomingFeature($0) })

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
                .product(name: "SwitchboardInspector", package: "Switchboard"),
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
    swiftLanguageModes: [isSwift5 ? .v5 : .v6]
)
