import Switchboard

public let articleTests = HTTPHeaders(["Module": "ArticleTests"])
