import Switchboard

public let friends = HTTPHeaders(["Module": "Friends"])
