// swift-tools-version: 6.1
// Proves the Combine publisher on Linux: its source, the very file of the library, over OpenCombine under Combine's name.
import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
    name: "Publisher",
    platforms: [.macOS(.v13)],
    dependencies: [
        .package(name: "Switchboard", path: "../../.."),
        .package(url: "https://github.com/OpenCombine/OpenCombine.git", exact: "0.14.0"),
    ],
    targets: [
        .target(
            name: "SwitchboardCombine",
            dependencies: [
                "Switchboard", .product(name: "SwitchboardCalls", package: "Switchboard"),
                .product(name: "OpenCombine", package: "OpenCombine"),
            ],
            swiftSettings: settings + [.unsafeFlags(["-module-alias", "Combine=OpenCombine"])]),
        .testTarget(
            name: "PublisherTests",
            dependencies: [
                "Switchboard", "SwitchboardCombine",
                .product(name: "SwitchboardCalls", package: "Switchboard"),
                .product(name: "OpenCombine", package: "OpenCombine"),
                .product(name: "SwitchboardTesting", package: "Switchboard"),
            ], swiftSettings: settings),
    ],
    swiftLanguageModes: [.v6]
)
