import Foundation

extension Words {
    /// The page of `--page`, by default 1.
    package var page: Int {
        get throws(Failure) { try number(.page, "a page") ?? 1 }
    }

    /// Returns an option's value, a positive integer, or nil without that option.
    package func number(_ option: Option, _ thing: String) throws(Failure) -> Int? {
        guard let word = self[option] else { return nil }
        guard let number = Int(word), number >= 1 else {
            throw Failure(.usage, "'\(word)' is not \(thing): use a whole number from 1")
        }
        return number
    }

    /// The file of `--output`, or nil without that option.
    package var output: URL? {
        get throws(Failure) {
            guard let path = self[.output] else { return nil }
            guard !path.isEmpty, !path.hasSuffix("/") else { throw Failure(.usage, "'\(path)' is not a file to write") }
            return URL(fileURLWithPath: path)
        }
    }

    /// The URL of `--server`, or nil without that option.
    package var server: URL? {
        get throws(Failure) {
            guard let word = self[.server] else { return nil }
            guard let url = URL(string: word), ["http", "https"].contains(url.scheme?.lowercased()),
                url.host?.isEmpty == false, 1...65_535 ~= url.port ?? 80, url.query == nil, url.fragment == nil
            else {
                throw Failure(.usage, "'\(word)' is not a server: use a URL such as http://127.0.0.1:8080")
            }
            return url
        }
    }
}
