// swift-tools-version: 6.1
import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
    name: "Micro",
    platforms: [.macOS(.v13)],
    products: [
        .executable(name: "micro", targets: ["micro"]),
        .library(name: "Movies", targets: ["Movies"]),
    ],
    dependencies: [.package(name: "Switchboard", path: "../..")],
    targets: [
        .target(name: "Callgrind"),
        .target(
            name: "Movies", dependencies: [.product(name: "Switchboard", package: "Switchboard")],
            swiftSettings: settings),
        .executableTarget(
            name: "micro",
            dependencies: [
                "Callgrind", "Movies",
                .product(name: "Switchboard", package: "Switchboard"),
                .product(name: "SwitchboardCache", package: "Switchboard"),
                .product(name: "SwitchboardCookies", package: "Switchboard"),
                .product(name: "SwitchboardJSON", package: "Switchboard"),
                .product(name: "SwitchboardStreams", package: "Switchboard"),
            ],
            swiftSettings: settings),
    ],
    swiftLanguageModes: [.v6]
)
