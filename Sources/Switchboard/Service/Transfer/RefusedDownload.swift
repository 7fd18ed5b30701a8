/// Removes what a cache stored of a response, because the app refused the file that was downloaded with it.
package enum RefusedDownload: RequestOption {
    package static let defaultValue: (@Sendable (NetworkResponse) async -> Void)? = nil
}
