/// Which addresses of a host a session connects to.
public enum AddressFamily: Sendable, Hashable {
    /// Both, whichever answers first.
    case any
    /// IPv4 alone.
    case ipv4
    /// IPv6 alone.
    case ipv6
}
