import ArticleTests
import CCurl
import ExampleKit
import Foundation
import Friends
import Movies
import Programs
import Switchboard
import SwitchboardMocks
import Todos
import Uploads
import Users

// Sends each module's header fields, so that all modules are linked with Switchboard.
let session = StubSession { request in .text(request.headers["Module"] ?? "") }
for headers in [articleTests, curl, exampleKit, friends, movies, programs, todos, uploads, users] {
    print(try await session.send(NetworkRequest(.get, URL(string: "https://app.example/"), headers: headers)).text)
}
