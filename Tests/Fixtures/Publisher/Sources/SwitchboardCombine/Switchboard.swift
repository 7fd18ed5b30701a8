// The publisher's source, which is linked from here, is part of Switchboard and imports nothing of it.
@_exported import Switchboard
