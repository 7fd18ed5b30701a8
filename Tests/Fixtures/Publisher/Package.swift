// swift-tools-version: 6.1
// Tests the Combine publisher on Linux: the library's source file over OpenCombine, imported as Combine.
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
