import Switchboard

public let programs = HTTPHeaders(["Module": "Programs"])
