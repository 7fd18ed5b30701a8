import Foundation
import SwitchboardText

/// Appends parameters to the query of the URL.
///
/// `["tag": "a+b", "tag": "c"]` on `https://h/p?x=1` makes `https://h/p?x=1&tag=a%2Bb&tag=c`. Parameters are encoded
/// once, in order and with repeated names. Without parameters, the URL stays the same byte for byte.
public struct URLParameterEncoder: ParameterEncoder {
    /// The encoder of names and values. Characters that a URL cannot contain are escaped even if the form allows them.
    public var form: URLEncodedFormEncoder {
        didSet { form = form.escapingForURLs }
    }

    /// Creates an encoder. The default form has ``URLEncodedFormEncoder``'s defaults.
    public init(_ form: URLEncodedFormEncoder = URLEncodedFormEncoder()) {
        self.form = form.escapingForURLs
    }

    /// Appends the parameters to the request's query.
    ///
    /// - Throws: ``NetworkError/Code/missingURL`` when the request has no URL, ``NetworkError/Code/invalidRequest``
    ///   when its parts form no URL, ``NetworkError/Code/encodingFailed`` for a value that cannot be written.
    public func encode(_ parameters: Parameters, into request: inout NetworkRequest) throws(NetworkError) {
        let url = try request.requiredURL
        var query: [UInt8] = []
        try form.append(parameters, to: &query)
        guard !query.isEmpty else { return }
        var text = try URLText(url)
        text.append(query: query)
        request.url = try text.url
    }
}
