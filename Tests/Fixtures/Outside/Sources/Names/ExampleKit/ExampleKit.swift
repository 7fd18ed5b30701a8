import Switchboard

public let exampleKit = HTTPHeaders(["Module": "ExampleKit"])
