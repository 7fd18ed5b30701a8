// The publisher's source, which is linked from here, is part of SwitchboardCalls and imports nothing of it.
@_exported import Switchboard
@_exported import SwitchboardCalls
