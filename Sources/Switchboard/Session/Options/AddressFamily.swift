/// The IP versions to which a session connects.
public enum AddressFamily: Sendable, Hashable {
    /// IPv4 and IPv6, whichever connects first.
    case any
    /// Only IPv4.
    case ipv4
    /// Only IPv6.
    case ipv6
}
