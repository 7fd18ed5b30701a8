#if DEBUG
/// Whether this module was built for debugging.
let isDebugBuild = true
#else
let isDebugBuild = false
#endif
