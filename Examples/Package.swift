// swift-tools-version: 6.1
import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
]
let switchboard = Target.Dependency.product(name: "Switchboard", package: "Switchboard")
let mocks = Target.Dependency.product(name: "SwitchboardMocks", package: "Switchboard")
let cache = Target.Dependency.product(name: "SwitchboardCache", package: "Switchboard")
let calls = Target.Dependency.product(name: "SwitchboardCalls", package: "Switchboard")
let inspector = Target.Dependency.product(name: "SwitchboardInspector", package: "Switchboard")
let webSocket = Target.Dependency.product(name: "SwitchboardWebSocket", package: "Switchboard")
let testing = Target.Dependency.product(name: "SwitchboardTesting", package: "Switchboard")

/// Returns the targets of a program and of its tests.
func example(_ name: String, _ products: [Target.Dependency] = []) -> [Target] {
    [
        .executableTarget(
            name: name, dependencies: ["ExampleKit", switchboard, mocks] + products, swiftSettings: settings),
        .testTarget(
            name: "\(name)Tests",
            dependencies: [.byName(name: name), "ExampleKit", "ExampleSupport", switchboard, testing] + products,
            swiftSettings: settings),
    ]
}

// A separate package: an app that depends on Switchboard may have targets with these names.
let package = Package(
    name: "Examples",
    platforms: [.macOS(.v13)],
    products: [
        .executable(name: "movies", targets: ["Movies"]),
        .executable(name: "users", targets: ["Users"]),
        .executable(name: "todos", targets: ["Todos"]),
        .executable(name: "uploads", targets: ["Uploads"]),
        .executable(name: "friends", targets: ["Friends"]),
    ],
    dependencies: [.package(name: "Switchboard", path: "..")],
    targets: example("Movies") + example("Users") + example("Todos", [calls, inspector, webSocket]) + example("Uploads")
        + example("Friends", [cache, calls])
        + [
            // The command line, the tables and the embedded server that the programs share.
            .target(name: "ExampleKit", dependencies: [switchboard, mocks], swiftSettings: settings),
            .testTarget(
                name: "ExampleKitTests", dependencies: ["ExampleKit", switchboard, mocks], swiftSettings: settings),
            // Helpers for the tests only.
            .target(
                name: "ExampleSupport", dependencies: ["ExampleKit"], path: "Tests/ExampleSupport",
                swiftSettings: settings),
        ],
    swiftLanguageModes: [.v6]
)
