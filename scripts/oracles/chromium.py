"""A Chromium without a window, driven over the DevTools protocol through two pipes. It has no port that others could reach."""
import base64
import json
import os
import select
import subprocess
import time

FLAGS = [
    "--headless=new", "--no-sandbox", "--remote-debugging-pipe", "--disable-gpu", "--no-first-run", "--disable-extensions",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--mute-audio", "--hide-scrollbars",
    # /dev/shm of a container is small.
    "--disable-dev-shm-usage",
]
KEYS = {"Enter": (13, "\r"), "Escape": (27, ""), "Tab": (9, ""), "/": (191, "/"), "ArrowDown": (40, ""), "ArrowUp": (38, ""),
        "ArrowLeft": (37, ""), "ArrowRight": (39, ""), "Home": (36, ""), "End": (35, ""), "PageDown": (34, "")}


class Chromium:
    """The browser, within `with`. Its profile is in `folder`."""

    def __init__(self, folder):
        self.folder, self.number, self.replies, self.events, self.rest = folder, 0, {}, [], b""
        # What runs at once when an event arrives, by its name. It may send, but not call.
        self.handlers = {}

    def __enter__(self):
        inward, self.output = os.pipe()
        self.input, outward = os.pipe()
        with open(self.folder / "chromium.log", "wb") as log:
            command = ["bash", "-c", f'exec "$@" 3<&{inward} 4>&{outward}', "chromium", "chromium", *FLAGS]
            self.process = subprocess.Popen(
                [*command, f"--user-data-dir={self.folder / 'profile'}", "about:blank"], pass_fds=(inward, outward),
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        os.close(inward)
        os.close(outward)
        return self

    def __exit__(self, *_):
        try:
            self.call("Browser.close")
            self.process.wait(10)
        except (OSError, RuntimeError, TimeoutError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        os.close(self.input)
        os.close(self.output)

    def call(self, method, session=None, **parameters):
        """Calls a method and returns its result."""
        number = self.send(method, session, **parameters)
        deadline = time.monotonic() + 90
        while number not in self.replies:
            self.receive(deadline)
        reply = self.replies.pop(number)
        if "error" in reply:
            raise RuntimeError(f"{method}: {reply['error'].get('message')}")
        return reply["result"]

    def send(self, method, session=None, **parameters):
        """Calls a method without waiting. Returns the number of its reply."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters} | ({"sessionId": session} if session else {})
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.output, data):]
        return self.number

    def receive(self, deadline):
        """Waits for at least one message."""
        if not select.select([self.input], [], [], max(0, deadline - time.monotonic()))[0]:
            raise TimeoutError("Chromium does not answer")
        data = os.read(self.input, 1 << 20)
        if not data:
            raise RuntimeError(f"Chromium ended; its log:\n{(self.folder / 'chromium.log').read_text(errors='replace')[-2000:]}")
        *messages, self.rest = (self.rest + data).split(b"\0")
        for message in map(json.loads, messages):
            if "id" in message:
                self.replies[message["id"]] = message
            elif message["method"] in self.handlers:
                self.handlers[message["method"]](message)
            else:
                self.events.append(message)

    def event(self, method, test=lambda _: True, seconds=20):
        """Waits for an event and returns its parameters."""
        deadline, seen = time.monotonic() + seconds, 0
        while True:
            for event in self.events[seen:]:
                if event["method"] == method and test(event["params"]):
                    return event["params"]
            seen = len(self.events)
            self.receive(deadline)

    def page(self, script=""):
        """Opens an empty page. `script` runs in each of its documents before the document's own."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        return Page(self, self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"], script)


class Page:
    def __init__(self, browser, session, script):
        self.browser, self.session = browser, session
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")
        self.call("Emulation.setFocusEmulationEnabled", enabled=True)
        if script:
            self.call("Page.addScriptToEvaluateOnNewDocument", source=script)

    def call(self, method, **parameters):
        return self.browser.call(method, self.session, **parameters)

    def close(self):
        """Closes the page. The next page is then visible: a hidden one draws no frames."""
        self.call("Page.close")

    def events(self, method):
        return [event["params"] for event in self.browser.events if event.get("sessionId") == self.session and event["method"] == method]

    def open(self, url):
        """Opens a URL and waits until the document has loaded."""
        before = len(self.events("Page.loadEventFired"))
        failed = self.call("Page.navigate", url=url).get("errorText")
        if failed:
            return failed
        deadline = time.monotonic() + 20
        while len(self.events("Page.loadEventFired")) == before:
            self.browser.receive(deadline)
        return None

    def run(self, expression):
        """Returns the value of an expression. Waits for a promise."""
        result = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True, userGesture=True)
        if "exceptionDetails" in result:
            details = result["exceptionDetails"]
            raise RuntimeError(f"{expression[:200]}: {details.get('exception', {}).get('description', details['text'])}")
        return result["result"].get("value")

    def until(self, expression, seconds=15):
        """Waits until an expression is true, and returns whether it became true."""
        return self.run(f"""new Promise((resolve) => {{
          const end = performance.now() + {seconds * 1000};
          const look = () => {{
            let value = false;
            try {{ value = !!({expression}); }} catch {{}}
            if (value || performance.now() > end) resolve(value); else setTimeout(look, 15);
          }};
          look();
        }})""")

    def key(self, name, times=1):
        code, text = KEYS.get(name, (ord(name.upper()) if len(name) == 1 else 0, name if len(name) == 1 else ""))
        for _ in range(times):
            shared = {"key": name, "windowsVirtualKeyCode": code}
            self.call("Input.dispatchKeyEvent", type="keyDown", **shared, **({"text": text} if text else {}))
            self.call("Input.dispatchKeyEvent", type="keyUp", **shared)

    def type(self, text):
        self.call("Input.insertText", text=text)

    def click(self, selector):
        """Clicks the middle of the first element of a selector."""
        box = self.run(f"""(() => {{
          const element = document.querySelector({json.dumps(selector)});
          if (!element) return null;
          element.scrollIntoView({{ block: "nearest" }});
          const box = element.getBoundingClientRect();
          return [box.left + box.width / 2, box.top + box.height / 2];
        }})()""")
        if not box:
            raise RuntimeError(f"no element for {selector}")
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=box[0], y=box[1], button="left", clickCount=1)

    def size(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def colors(self, scheme):
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def screenshot(self, file):
        file.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))
