import Foundation
import SwitchboardText

/// Writes parameters into the query of the URL, after what is there.
///
/// `["tag": "a+b", "tag": "c"]` on `https://h/p?x=1` gives `https://h/p?x=1&tag=a%2Bb&tag=c`: encoded once, order and
/// repeats kept. No parameters leave the URL byte for byte as it was.
public struct URLParameterEncoder: ParameterEncoder {
    /// How names and values are written. A character that no URL has is escaped, even one that the form allows.
    public var form: URLEncodedFormEncoder {
        didSet { form = form.escapingForURLs }
    }

    /// Makes an encoder; without an argument, with ``URLEncodedFormEncoder``'s defaults.
    public init(_ form: URLEncodedFormEncoder = URLEncodedFormEncoder()) {
        self.form = form.escapingForURLs
    }

    /// Appends the parameters to the draft's query.
    ///
    /// - Throws: ``NetworkError/Code/missingURL`` when the draft has no URL, ``NetworkError/Code/encodingFailed`` for a
    ///   value that cannot be written.
    public func encode(_ parameters: Parameters, into draft: inout RequestDraft) throws(NetworkError) {
        guard let url = draft.url else { throw NetworkError(.missingURL) }
        var query: [UInt8] = []
        try form.append(parameters, to: &query)
        guard !query.isEmpty else { return }
        draft.url = try URLText(url).appending(query: query).url
    }
}
