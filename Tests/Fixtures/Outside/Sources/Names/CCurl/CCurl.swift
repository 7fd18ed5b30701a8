import Switchboard

public let curl = HTTPHeaders(["Module": "CCurl"])
