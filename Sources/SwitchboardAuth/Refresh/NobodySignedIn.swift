import Switchboard

/// Ends the load of a credential that is not there, for requests that do not require one.
struct NobodySignedIn: Error {}
