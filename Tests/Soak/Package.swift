// swift-tools-version: 6.1
import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
    name: "Soak",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "Switchboard", path: "../..")],
    targets: [
        .executableTarget(
            name: "soak",
            dependencies: [
                .product(name: "Switchboard", package: "Switchboard"),
                .product(name: "SwitchboardCalls", package: "Switchboard"),
                .product(name: "SwitchboardMocks", package: "Switchboard"),
                .product(name: "SwitchboardWebSocket", package: "Switchboard"),
            ],
            swiftSettings: settings)
    ],
    swiftLanguageModes: [.v6]
)
