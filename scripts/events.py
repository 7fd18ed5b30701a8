"""What `swift test --event-stream-output-path FILE` says, whole: in its output, lines of tests and of what they print mix."""
import json


def messages(path):
    """The text of each event, in order; its parts are lines."""
    with open(path, encoding="utf-8", errors="replace") as events:
        for line in events:
            event = json.loads(line)
            if event["kind"] == "event":
                yield "\n".join(message["text"] for message in event["payload"]["messages"])
