// The publisher's source is a symbolic link into SwitchboardCalls, so it does not import that module itself.
@_exported import Switchboard
@_exported import SwitchboardCalls
