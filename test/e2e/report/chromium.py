"""A headless chromium driven over a pipe with the DevTools protocol; nothing but the standard library."""
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "chrome-headless-shell")


def find():
    """The browser to use: $CHROMIUM, or the first of NAMES that is installed; None without one."""
    return os.environ.get("CHROMIUM") or next((p for p in map(shutil.which, NAMES) if p), None)


class Failure(Exception):
    pass


class Page:
    """One tab. Errors of the page and its requests are collected while it lives."""

    def __init__(self, binary, width=1400, height=1000, dark=False):
        self.profile = tempfile.TemporaryDirectory(prefix="mrvlc-chromium-")
        to_read, self.to = os.pipe()
        self.back, from_write = os.pipe()
        # The protocol's file descriptors are 3 and 4 of the browser.
        command = 'exec "$0" "$@" 3<&%d 4>&%d' % (to_read, from_write)
        flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", "--no-first-run",
                 "--disable-background-networking", "--disable-dev-shm-usage", "--hide-scrollbars", "--force-device-scale-factor=1",
                 "--user-data-dir=" + self.profile.name, "about:blank"]
        with open(os.path.join(self.profile.name, "log"), "wb") as log:
            self.process = subprocess.Popen(["sh", "-c", command, binary, *flags], pass_fds=(to_read, from_write),
                                            stdout=log, stderr=log)
        os.close(to_read)
        os.close(from_write)
        self.number, self.buffer, self.session = 0, b"", None
        self.problems, self.requests, self.loaded = [], [], False
        target = next(t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def cpu_seconds(self):
        """Processor time of the browser, all its processes: what a page takes, however busy the machine is."""
        stats = {}
        for entry in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open("/proc/%s/stat" % entry, encoding="utf-8", errors="replace") as file:
                    fields = file.read().rpartition(")")[2].split()
            except OSError:
                continue
            stats[int(entry)] = (int(fields[1]), int(fields[11]) + int(fields[12]))
        family, before = {self.process.pid}, 0
        while len(family) != before:
            before = len(family)
            family |= {pid for pid, (parent, _) in stats.items() if parent in family}
        return sum(stats[pid][1] for pid in family if pid in stats) / os.sysconf("SC_CLK_TCK")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.session = None
        try:
            self.call("Browser.close")
        except Failure:
            self.process.kill()
        self.process.wait(30)
        os.close(self.to)
        os.close(self.back)
        self.profile.cleanup()

    def read(self, deadline):
        while b"\0" not in self.buffer:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.back], [], [], left)[0]:
                raise Failure("the browser does not answer")
            chunk = os.read(self.back, 1 << 20)
            if not chunk:
                raise Failure("the browser has ended")
            self.buffer += chunk
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        try:
            os.write(self.to, json.dumps(message).encode() + b"\0")
        except OSError as error:
            raise Failure(str(error)) from error
        deadline = time.monotonic() + 60
        while True:
            answer = self.read(deadline)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise Failure("%s: %s" % (method, answer["error"]))
                return answer["result"]
            self.event(answer)

    def event(self, message):
        method, parameters = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            details = parameters["exceptionDetails"]
            self.problems.append(details.get("exception", {}).get("description") or details["text"])
        elif method == "Runtime.consoleAPICalled":
            self.problems.append("console.%s: %s" % (parameters["type"], parameters["args"]))
        elif method == "Log.entryAdded":
            self.problems.append("%s: %s" % (parameters["entry"]["source"], parameters["entry"]["text"]))
        elif method == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])
        elif method == "Page.loadEventFired":
            self.loaded = True

    def open(self, path):
        self.loaded = False
        self.call("Page.navigate", url="file://" + os.path.abspath(path))
        deadline = time.monotonic() + 60
        while not self.loaded:
            self.event(self.read(deadline))
        self.settle()

    def evaluate(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise Failure(result["exceptionDetails"].get("exception", {}).get("description", expression))
        return result["result"].get("value")

    def settle(self):
        """Until what was asked for is drawn."""
        self.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 20))))")

    def box(self, selector):
        """Scrolls the element into view; its rectangle there."""
        find_it = "document.querySelector(%s)" % json.dumps(selector)
        self.evaluate("%s.scrollIntoView({block: 'center', behavior: 'instant'})" % find_it)
        self.settle()
        return self.evaluate("(({x, y, width, height}) => ({x, y, width, height}))(%s.getBoundingClientRect())" % find_it)

    def mouse(self, kind, x, y, modifiers=0, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, modifiers=modifiers, **more)

    def drag(self, x0, y0, x1, y1, modifiers=0):
        button = {"button": "left", "clickCount": 1}
        self.mouse("mousePressed", x0, y0, modifiers, **button)
        for step in (1, 2, 3, 4):
            self.mouse("mouseMoved", x0 + (x1 - x0) * step / 4, y0 + (y1 - y0) * step / 4, modifiers, button="left", buttons=1)
        self.mouse("mouseReleased", x1, y1, modifiers, **button)
        self.settle()

    def click(self, x, y):
        self.drag(x, y, x, y)

    def key(self, key, text=None):
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, **({"text": text} if text else {}))
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key)
        self.settle()

    def screenshot(self, path, full=False):
        shot = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=full)
        with open(path, "wb") as file:
            file.write(base64.b64decode(shot["data"]))
