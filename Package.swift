// swift-tools-version: 6.1
import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
    name: "Switchboard",
    platforms: [.macOS(.v13), .iOS(.v16), .tvOS(.v16), .watchOS(.v9), .visionOS(.v1)],
    products: [
        .library(name: "Switchboard", targets: ["Switchboard"]),
        .library(name: "SwitchboardTesting", targets: ["SwitchboardTesting"]),
        .library(name: "SwitchboardMocks", targets: ["SwitchboardMocks"]),
        .executable(name: "movies", targets: ["Movies"]),
        .executable(name: "users", targets: ["Users"]),
        .executable(name: "todos", targets: ["Todos"]),
        .executable(name: "uploads", targets: ["Uploads"]),
        .executable(name: "friends", targets: ["Friends"]),
    ],
    targets: [
        .target(
            name: "Switchboard",
            dependencies: [.target(name: "SwitchboardCurl", condition: .when(platforms: [.linux]))],
            swiftSettings: settings),
        // Loads the system's libcurl at run time. Empty outside Linux.
        .target(name: "SwitchboardCurl"),
        // The doubles, without a test framework, for debug builds and previews too.
        .target(name: "SwitchboardMocks", dependencies: ["Switchboard"], swiftSettings: settings),
        // The doubles, and what fails tests.
        .target(
            name: "SwitchboardTesting", dependencies: ["Switchboard", "SwitchboardMocks"], swiftSettings: settings),
        // What the examples share: words in, text and an exit code out, a server inside the program.
        .target(
            name: "ExampleKit", dependencies: ["Switchboard", "SwitchboardMocks"], path: "Examples/Shared",
            swiftSettings: settings),
        .executableTarget(
            name: "Movies", dependencies: ["ExampleKit", "Switchboard", "SwitchboardMocks"], path: "Examples/Movies",
            swiftSettings: settings),
        .executableTarget(
            name: "Users", dependencies: ["ExampleKit", "Switchboard", "SwitchboardMocks"], path: "Examples/Users",
            swiftSettings: settings),
        .executableTarget(
            name: "Todos", dependencies: ["ExampleKit", "Switchboard", "SwitchboardMocks"], path: "Examples/Todos",
            swiftSettings: settings),
        .executableTarget(
            name: "Uploads", dependencies: ["ExampleKit", "Switchboard", "SwitchboardMocks"], path: "Examples/Uploads",
            swiftSettings: settings),
        .executableTarget(
            name: "Friends", dependencies: ["ExampleKit", "Switchboard", "SwitchboardMocks"], path: "Examples/Friends",
            swiftSettings: settings),
        // For tests alone: other programs, as clients and servers.
        .target(name: "SwitchboardTestSupport", path: "Tests/SwitchboardTestSupport", swiftSettings: settings),
        .testTarget(
            name: "SwitchboardTests",
            dependencies: ["SwitchboardTestSupport", "Switchboard", "SwitchboardMocks", "SwitchboardTesting"],
            exclude: ["Gallery/ErrorGallery.md"], resources: [.copy("Vectors")], swiftSettings: settings),
        .testTarget(
            name: "SwitchboardTestingTests",
            dependencies: ["SwitchboardTestSupport", "Switchboard", "SwitchboardMocks", "SwitchboardTesting"],
            exclude: ["Cassette/Cassettes"],
            swiftSettings: settings),
        .testTarget(
            name: "ExampleKitTests", dependencies: ["ExampleKit", "Switchboard", "SwitchboardMocks"],
            swiftSettings: settings),
        // For tests of the examples alone.
        .target(
            name: "ExampleSupport", dependencies: ["ExampleKit"], path: "Tests/ExampleSupport", swiftSettings: settings),
        .testTarget(
            name: "MoviesTests",
            dependencies: ["Movies", "ExampleKit", "ExampleSupport", "Switchboard", "SwitchboardTesting"],
            swiftSettings: settings),
        .testTarget(
            name: "UsersTests",
            dependencies: ["Users", "ExampleKit", "ExampleSupport", "Switchboard", "SwitchboardTesting"],
            swiftSettings: settings),
        .testTarget(
            name: "TodosTests",
            dependencies: ["Todos", "ExampleKit", "ExampleSupport", "Switchboard", "SwitchboardTesting"],
            swiftSettings: settings),
        .testTarget(
            name: "UploadsTests",
            dependencies: ["Uploads", "ExampleKit", "ExampleSupport", "Switchboard", "SwitchboardTesting"],
            swiftSettings: settings),
        .testTarget(
            name: "FriendsTests",
            dependencies: ["Friends", "ExampleKit", "ExampleSupport", "Switchboard", "SwitchboardTesting"],
            swiftSettings: settings),
        // The fourth design's MovieApi as it was published, with its own NetworkEnvironment and NetworkManager: a module
        // of its own, so that those two names do not hide ours in the other tests.
        .testTarget(
            name: "ArticleTests", dependencies: ["Switchboard", "SwitchboardTesting"], swiftSettings: settings),
    ],
    swiftLanguageModes: [.v6]
)
