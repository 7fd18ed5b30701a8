"""The measurements that failed, and why."""

import sys


class Failures:
    """Reports failures of one kind, such as a peer's, once with the number of further ones."""

    def __init__(self):
        self.kinds = {}

    def add(self, kind, what, why):
        print(f"{kind}, {what}: {why}", file=sys.stderr, flush=True)
        self.kinds.setdefault(kind, []).append(f"{what}: {why}")

    @property
    def lines(self):
        return [
            f"{kind}, {texts[0]}" + (f" (and {len(texts) - 1} more)" if len(texts) > 1 else "")
            for kind, texts in self.kinds.items()
        ]
