// The doubles themselves are a module of their own, which links no test framework: an app's debug build and its previews
// may use them. With this, tests have all of it from one import.
@_exported import SwitchboardMocks
