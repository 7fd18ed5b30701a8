import Switchboard

public let users = HTTPHeaders(["Module": "Users"])
