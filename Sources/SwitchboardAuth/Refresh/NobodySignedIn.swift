import Switchboard

/// The error of a load that finds no credential, for requests that do not require one.
struct NobodySignedIn: Error {}
