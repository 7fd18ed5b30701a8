// The module has no symbols: linking it is enough.
