"""Reads the file of `swift test --event-stream-output-path FILE`. Unlike the console output, it does not mix with prints."""
import json


def messages(path):
    """Yields the text of each event in order, with a line for each message."""
    with open(path, encoding="utf-8", errors="replace") as events:
        for line in events:
            event = json.loads(line)
            if event["kind"] == "event":
                yield "\n".join(message["text"] for message in event["payload"]["messages"])
