import Foundation
import Switchboard
import SwitchboardJSON
import SwitchboardPlatform
import SwitchboardText

/// A login on a device without a browser ([RFC 8628](https://www.rfc-editor.org/rfc/rfc8628)): the user opens a page on
/// another device and types a code. It contains a secret.
public struct DeviceLogin: Sendable, Hashable {
    /// The code that the user types.
    public let userCode: String
    /// The page that the user opens. It comes from the server.
    public let page: URL
    /// The page with the code in it, for instance for a QR code. Nil if the server sent none.
    public let pageWithCode: URL?
    /// The time from the server's response until the codes expire.
    public let lifetime: Duration
    /// The shortest time between two requests for the token.
    let interval: Duration
    let deviceCode: String
}

extension DeviceLogin: DumpedAsDescription {
    /// The page and the lifetime, without the codes.
    public var description: String {
        "DeviceLogin(\(Redaction.standard.url(page.absoluteString)), \(lifetime))"
    }
}

extension DeviceLogin {
    /// Creates the login in a server's response (RFC 8628 §3.2). Nil for a response without codes or a page.
    init?(response body: Data) {
        struct Response: Decodable {
            var device_code, user_code: String
            var verification_uri: String?
            /// Google uses the name of a draft.
            var verification_url: String?
            var verification_uri_complete: String?
            var expires_in: OAuthToken.Seconds?
            var interval: OAuthToken.Seconds?
        }
        guard let fields = try? FastJSONDecoder().decode(Response.self, from: body), !fields.device_code.isEmpty,
            !fields.user_code.isEmpty, let page = Self.page(fields.verification_uri ?? fields.verification_url)
        else { return nil }
        deviceCode = fields.device_code
        userCode = fields.user_code
        self.page = page
        pageWithCode = Self.page(fields.verification_uri_complete)
        lifetime = Self.duration(fields.expires_in, default: 600, within: 1...86_400)
        interval = Self.duration(fields.interval, default: 5, within: 1...3_600)
    }

    private static func page(_ text: String?) -> URL? {
        guard let url = text.flatMap(URL.init(string:)), ["http", "https"].contains(url.scheme?.lowercased()) else {
            return nil
        }
        return url
    }

    private static func duration(
        _ time: OAuthToken.Seconds?, default fallback: Double, within range: ClosedRange<Double>
    ) -> Duration {
        .seconds(Int(min(max(time?.value ?? fallback, range.lowerBound), range.upperBound)))
    }
}

extension OAuth2Client {
    /// Begins a login on a device without a browser ([RFC 8628
    /// §3.1](https://www.rfc-editor.org/rfc/rfc8628#section-3.1)).
    ///
    /// ```swift
    /// let login = try await client.deviceLogin()
    /// print("Open \(login.page) and type \(login.userCode)")
    /// let token = try await client.token(for: login)
    /// ```
    ///
    /// - Parameter scope: The scopes to request, in place of ``scope``.
    /// - Returns: The login, with the page and the code for the user.
    /// - Throws: `NetworkError.Code.unsupported` without a ``deviceAuthorizationURL``,
    ///   `NetworkError.Code.cannotAuthenticate` with an ``OAuthError`` underneath, and the errors of any exchange.
    public func deviceLogin(scope: String? = nil) async throws -> DeviceLogin {
        guard let deviceAuthorizationURL else {
            throw NetworkError(
                .unsupported, reason: "set the deviceAuthorizationURL of the OAuth2Client to log in on a device")
        }
        let items = (scope ?? self.scope).map { [URLQueryItem(name: "scope", value: $0)] } ?? []
        let response = try await self.response(from: deviceAuthorizationURL, items, more: [:])
        if let error = OAuthError(response: response.body, without: secrets(in: items)) {
            throw error.asNetworkError("the authorization server refused").attributed(
                to: NetworkRequest(.post, deviceAuthorizationURL))
        }
        guard let login = DeviceLogin(response: response.body) else {
            throw NetworkError(
                .decodingFailed,
                reason: "the response of the device authorization endpoint has no codes or no page (RFC 8628 §3.2)"
            ).attributed(to: NetworkRequest(.post, deviceAuthorizationURL))
        }
        return login
    }

    /// Waits until the user has signed in on another device, and returns the token ([RFC 8628
    /// §3.4](https://www.rfc-editor.org/rfc/rfc8628#section-3.4)).
    ///
    /// It polls the token endpoint at the server's interval, by default every 5 seconds. The interval grows by 5
    /// seconds after each `slow_down`, and doubles after a request without a response, and after the status of an
    /// overloaded server, such as 503. The last request is sent at the end of the lifetime at the latest.
    ///
    /// - Parameters:
    ///   - login: The login. It can be completed once.
    ///   - clock: The clock for the waits.
    /// - Returns: The token.
    /// - Throws: `NetworkError.Code.cannotAuthenticate` with an ``OAuthError`` underneath:
    ///   ``OAuthError/Code/accessDenied`` when the user refused, ``OAuthError/Code/expiredToken`` when the codes
    ///   expired. Also the errors of any exchange, and `CancellationError`.
    public func token(for login: DeviceLogin, clock: any Clock<Duration> = ContinuousClock()) async throws -> OAuthToken
    {
        var (interval, wait, left) = (login.interval, login.interval, login.lifetime)
        let elapsed = clock.stopwatch()
        while interval <= left {
            try await clock.sleep(for: min(wait, left))
            defer { left = login.lifetime - elapsed() }
            do {
                return try await token(
                    grantType: "urn:ietf:params:oauth:grant-type:device_code",
                    parameters: ["device_code": login.deviceCode])
            } catch let error as NetworkError {
                switch error.oauthError?.code {
                case .authorizationPending?: break
                case .slowDown?: (interval, wait) = (interval + .seconds(5), wait + .seconds(5))
                case nil where error.code == .timedOut || error.code.isKind(of: .cannotConnect): wait = wait * 2
                case nil where error.statusCode.map(RetryPolicy().statusCodes.contains) == true: wait = wait * 2
                default: throw error
                }
            }
        }
        throw OAuthError(.expiredToken, text: "the user did not sign in before the code expired").asNetworkError()
    }

    /// Returns a token for any grant, such as `urn:ietf:params:oauth:grant-type:jwt-bearer` ([RFC 6749
    /// §4.5](https://www.rfc-editor.org/rfc/rfc6749#section-4.5)). A grant of `password` has the parameters `username`
    /// and `password`.
    ///
    /// - Parameters:
    ///   - grantType: The value of `grant_type`.
    ///   - parameters: The other parameters of the grant. Those of the client, and ``tokenParameters``, are added.
    /// - Returns: The token.
    /// - Throws: `NetworkError.Code.cannotAuthenticate` with an ``OAuthError`` underneath, and the errors of any
    ///   exchange.
    public func token(grantType: String, parameters: Parameters = [:]) async throws -> OAuthToken {
        let query = try URLEncodedFormEncoder().encode(parameters)
        return try await token([URLQueryItem(name: "grant_type", value: grantType)].adding(FormBody.decode(query)))
    }
}
