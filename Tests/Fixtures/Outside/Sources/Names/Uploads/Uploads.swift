import Switchboard

public let uploads = HTTPHeaders(["Module": "Uploads"])
