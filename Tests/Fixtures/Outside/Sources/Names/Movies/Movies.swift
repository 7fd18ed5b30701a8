import Switchboard

public let movies = HTTPHeaders(["Module": "Movies"])
