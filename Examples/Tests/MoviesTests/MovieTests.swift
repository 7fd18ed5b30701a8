import ExampleKit
import Foundation
import Testing

@testable import Movies

struct MovieTests {
    @Test func nullAndMissingPathsAreTolerated() throws {
        let json = """
            {"page": 1, "total_pages": 1, "total_results": 2, "results": [
                {"id": 1, "title": "A", "release_date": "", "vote_average": 7, "poster_path": null, "backdrop_path": null},
                {"id": 2, "title": "B", "vote_average": 7.5, "adult": false}
            ]}
            """
        let page = try JSONDecoder().decode(MoviePage.self, from: Data(json.utf8))
        #expect(page.movies.map(\.posterPath) == [nil, nil])
        #expect(page.movies.map(\.releaseDate) == ["", nil])
        #expect(page.movies.map(\.rating) == [7, 7.5])
    }
}
