import Switchboard

public let todos = HTTPHeaders(["Module": "Todos"])
