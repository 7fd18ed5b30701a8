// On Linux, a separate module contains URLSession and related types. This file re-exports it once, so that every other
// file and every client needs only `import Foundation`.
#if canImport(FoundationNetworking)
@_exported import FoundationNetworking
#endif
