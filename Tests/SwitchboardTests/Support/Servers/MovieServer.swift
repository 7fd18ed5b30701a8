import Switchboard
import SwitchboardTesting

/// Answers like TheMovieDB, for the four endpoints of the article.
enum MovieServer {
    @Sendable static func answer(_ request: RecordedRequest) -> MockResponse {
        guard request.queryValue("api_key") == "test" else {
            return error(401, code: 7, "Invalid API key: You must be granted a valid key.")
        }
        let path = request.path.split(separator: "/").dropFirst(2).map(String.init)
        switch (path.first, path.dropFirst().first) {
        case ("now_playing", nil), ("popular", nil):
            guard let number = Int(request.queryValue("page") ?? "") else {
                return error(422, code: 22, "Invalid page.")
            }
            return .json(page(number, id: 348))
        case ("0", _): return error(404, code: 34, "The resource you requested could not be found.")
        case (let id?, "recommendations"): return .json(page(1, id: Int(id) ?? 0))
        case (let id?, "videos"):
            return .json(
                #"{"id":\#(id),"results":[{"id":"5b","key":"jQ5lPt9edzQ","site":"YouTube","size":1080,"type":"Trailer"}]}"#
            )
        default: return error(404, code: 34, "The resource you requested could not be found.")
        }
    }

    private static func error(_ status: Int, code: Int, _ message: String) -> MockResponse {
        .json(#"{"status_code":\#(code),"status_message":"\#(message)","success":false}"#, statusCode: status)
    }

    private static func page(_ number: Int, id: Int) -> String {
        #"{"page":\#(number),"total_results":1,"total_pages":9,"results":[{"id":\#(id),"title":"Alien","poster_path":null,"#
            + #""backdrop_path":"/a.jpg","release_date":"1979-05-25","vote_average":8.1,"overview":"In space."}]}"#
    }

    /// A page as in the article, with a film that has no pictures and one that lacks even their keys.
    static let article = """
        {
          "results": [
            {"vote_count": 1720, "id": 181808, "video": false, "vote_average": 7.2, "title": "Star Wars: The Last Jedi",
             "popularity": 591.5, "poster_path": "/xGWVjewoXnJhvxKW619cMzppJDQ.jpg", "original_language": "en",
             "original_title": "Star Wars: The Last Jedi", "genre_ids": [14, 12, 878, 28],
             "backdrop_path": "/5Iw7zQTHVRBOYpA0V6z0yypOPZh.jpg", "adult": false, "overview": "Rey.", "release_date": "2017-12-13"},
            {"vote_count": 801, "id": 354912, "video": false, "vote_average": 7.7, "title": "Coco", "popularity": 410.7,
             "poster_path": null, "backdrop_path": null, "adult": false, "overview": "Miguel.", "release_date": "2017-10-27"},
            {"id": 1, "vote_average": 0, "title": "Untitled", "overview": "", "release_date": ""}
          ],
          "page": 1, "total_results": 1122, "dates": {"maximum": "2018-01-03", "minimum": "2017-11-15"}, "total_pages": 57
        }
        """
}

// The decoded answers.
extension MovieServer {
    struct Page: Codable, Equatable, Sendable {
        let page: Int
        let numberOfResults: Int
        let numberOfPages: Int
        let movies: [Film]

        enum CodingKeys: String, CodingKey {
            case page
            case numberOfResults = "total_results"
            case numberOfPages = "total_pages"
            case movies = "results"
        }
    }

    struct Film: Codable, Equatable, Sendable {
        let id: Int
        let title: String
        let posterPath: String?
        let backdrop: String?
        let releaseDate: String
        let rating: Double
        let overview: String

        enum CodingKeys: String, CodingKey {
            case id, title, overview
            case posterPath = "poster_path"
            case backdrop = "backdrop_path"
            case releaseDate = "release_date"
            case rating = "vote_average"
        }
    }

    struct Videos: Codable, Equatable, Sendable {
        struct Video: Codable, Equatable, Sendable {
            let key: String
            let site: String
        }

        let id: Int
        let results: [Video]
    }
}
