@testable import Films
import Foundation
import Switchboard
import SwitchboardTesting
import XCTest

final class FilmsXCTests: XCTestCase {
    func testTheKitWorksInXCTestToo() async throws {
        let session = StubSession()
        session.stub(FilmApi.popular(page: 1), with: .json(#"{"page": 1, "results": []}"#))
        let page = try await Router<FilmApi>(session: session).request(.popular(page: 1), as: FilmPage.self)
        XCTAssertEqual(page, FilmPage(page: 1, results: []))
        session.verify()
    }

    func testFailsOnPurpose() throws {
        guard ProcessInfo.processInfo.environment["FILMS_FAIL"] != nil else { throw XCTSkip("only on purpose") }
        let session = StubSession()
        session.stub(.get("/never"), with: .status(200))
        session.verify()  // XCTest reports this line
    }
}
