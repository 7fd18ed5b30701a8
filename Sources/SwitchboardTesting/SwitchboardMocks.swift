// The mocks are a separate module, which links no test framework, so an app's debug build and its previews may use
// them. With this export, tests need only one import.
@_exported import SwitchboardMocks
