// On Linux URLSession and its neighbours live in a module of their own. Re-exporting it here, once, lets every other
// file, and every client, say `import Foundation` alone.
#if canImport(FoundationNetworking)
@_exported import FoundationNetworking
#endif
