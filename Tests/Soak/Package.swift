// swift-tools-version: 6.1
import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

func products(_ names: String...) -> [Target.Dependency] {
    names.map { .product(name: $0, package: "Switchboard") }
}

let package = Package(
    name: "Soak",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "Switchboard", path: "../..")],
    targets: [
        .executableTarget(
            name: "soak",
            dependencies: products(
                "Switchboard", "SwitchboardCalls", "SwitchboardMocks", "SwitchboardURLSession", "SwitchboardWebSocket"),
            swiftSettings: settings),
        .executableTarget(
            name: "simulate",
            dependencies: products(
                "Switchboard", "SwitchboardAuth", "SwitchboardCache", "SwitchboardCookies", "SwitchboardResilience",
                "SwitchboardStreams"),
            swiftSettings: settings),
        .executableTarget(
            name: "torture",
            dependencies: products(
                "Switchboard", "SwitchboardAuth", "SwitchboardCache", "SwitchboardCookies", "SwitchboardHAR",
                "SwitchboardMocks", "SwitchboardStreams", "SwitchboardWebSocket"),
            swiftSettings: settings),
    ],
    swiftLanguageModes: [.v6]
)
