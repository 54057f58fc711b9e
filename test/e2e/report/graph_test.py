#!/usr/bin/env python3
"""The page of `mrvlc graph` and the graph in report.html in a real browser: graph_test.py MRVLC MODELS FOLDER

MODELS: the folder models/. Exits with 77 (skipped) when there is no chromium. With
$MRVLC_SCREENSHOTS=DIR it leaves pictures there.
"""
import os
import shutil
import subprocess
import sys
import time

import chromium
from checks import accessible, check, result, text

PHONE, DESKTOP = 390, 1400


def shot(page, name):
    folder = os.environ.get("MRVLC_SCREENSHOTS")
    if folder:
        os.makedirs(folder, exist_ok=True)
        page.screenshot(os.path.join(folder, name + ".png"), full=True)


def count(page, selector):
    return page.evaluate("document.querySelectorAll('%s').length" % selector)


def search(page, word):
    page.evaluate("(() => { const i = document.querySelector('.graph-tools input'); i.value = '%s'; i.dispatchEvent(new Event('input')); })()" % word)
    page.settle()


def press_card(page, number):
    """Clicks an item where it lies on the screen."""
    box = page.evaluate("(({x, y, width, height}) => ({x, y, width, height}))(document.querySelector('.item[data-item=\"%d\"] .card-box').getBoundingClientRect())" % number)
    page.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.settle()


def fold(page):
    """Clicks the head of the first region."""
    page.box("svg.graph")
    page.evaluate("document.querySelector('button[title^=\"fit\"]').click()")
    page.settle()
    box = page.evaluate("(({x, y, width, height}) => ({x, y, width, height}))(document.querySelector('.region-head').getBoundingClientRect())")
    page.click(box["x"] + box["width"] / 2, box["y"] + min(box["height"] / 2, 6))
    page.settle()


def inside(page, outer):
    """Whether the selected item lies within the view."""
    return page.evaluate("(() => { const a = document.querySelector('.item.selected').getBoundingClientRect(), b = document.querySelector('%s')"
                         ".getBoundingClientRect(); return a.left >= b.left && a.right <= b.right && a.top >= b.top && a.bottom <= b.bottom; })()" % outer)


def large(page, path):
    started, cpu = time.monotonic(), page.cpu_seconds()
    page.open(path)
    took, cpu = time.monotonic() - started, page.cpu_seconds() - cpu
    check("a large graph opens by module: %d items" % count(page, ".item"), 2 < count(page, ".item") <= 20)
    check("whose names can be read", page.evaluate("graphView.view.scale") >= 0.5 and not page.evaluate("graphView.svg.classList.contains('far')"))
    check("there is no map of what is seen whole", page.evaluate("graphView.map.canvas.hidden"))
    page.evaluate("graphView.enter(graphView.graph.items.findIndex((i) => i.bodies))")
    check("a module opens", page.evaluate("graphView.index") > 1 and count(page, ".item") > 1)
    check("and leads up again", "up to by module" in text(page, ".graph-tools"))
    search(page, "block150/sum")
    check("what no module shows is found in the whole graph", page.evaluate("graphView.index") == 0 and count(page, ".item.selected") == 1)
    page.evaluate("graphView.open(0)")
    page.settle()
    check("a map shows where one is", not page.evaluate("graphView.map.canvas.hidden"))
    before, box = page.evaluate("graphView.view.y"), page.box(".graph-map")
    page.click(box["x"] + box["width"] / 2, box["y"] + box["height"] * 0.9)
    check("a click on the map goes there", page.evaluate("graphView.view.y") > before + 1000)
    page.evaluate("graphView.open(0)")
    page.settle()
    check("a thousand nodes open in less than 2 s of processor time: %.2f" % cpu, cpu < 2)
    print("a graph of %d items opens in %.2f s, %.2f s of processor time" % (count(page, ".item"), took, cpu))
    check("every item is drawn", count(page, ".item") > 1000)
    check("every edge is drawn", count(page, "path.edge") > 1000)
    shot(page, "graph-large")
    scale = "graphView.view.scale"
    before, box = page.evaluate(scale), page.box("svg.graph")
    x, y = box["x"] + box["width"] / 3, box["y"] + box["height"] / 3
    page.mouse("mouseWheel", x, y, deltaX=0, deltaY=-300)
    page.settle()
    check("the wheel zooms in", page.evaluate(scale) > 1.5 * before)
    at = page.evaluate("[graphView.view.x, graphView.view.y]")
    page.drag(x, y, x + 120, y + 40)
    moved = page.evaluate("[graphView.view.x, graphView.view.y]")
    check("a drag moves", moved[0] < at[0] and moved[1] < at[1])
    check("a drag selects nothing", count(page, ".item.selected") == 0)
    search(page, "block150/sum")
    check("the search finds: " + text(page, ".graph-tools .soft"), "found" in text(page, ".graph-tools .soft") and count(page, ".item.hit") >= 1)
    check("what is found is shown", count(page, ".item.selected") == 1 and inside(page, "svg.graph"))
    search(page, "no such thing")
    check("nothing is found", text(page, ".graph-tools .soft") == "0 found" and count(page, ".item.hit") == 0)
    cpu = page.cpu_seconds()
    page.evaluate("for (let i = 0; i < 5; ++i) { graphView.draw(); document.body.getBoundingClientRect(); }")
    drawn = (page.cpu_seconds() - cpu) / 5
    check("it is drawn anew in less than 500 ms: %.0f" % (1e3 * drawn), drawn < 0.5)


def compiled(page, path):
    page.open(path)
    check("the model is named", text(page, "h1") == "digits")
    check("regions are drawn", count(page, "rect.region") == 2)
    press_card(page, 0)
    check("a click selects", count(page, ".item.selected") == 1 and "image" in text(page, ".facts"))
    search(page, "conv1")
    facts = text(page, ".facts")
    for part in ("Conv", "conv1", "region 0", "cycles", "fp16", "by rule", "is read by", "MACs"):
        check("facts say '%s': %s" % (part, facts), part in facts)
    check("edges of what is selected stand out", count(page, "path.hot") >= 2)
    search(page, "pool")
    check("what is on the CPU says why: " + text(page, ".facts"), "on the CPU" in text(page, ".facts") and "--cpu" in text(page, ".facts"))
    items = count(page, ".item")
    fold(page)
    check("a region folds", count(page, ".item") < items)
    shot(page, "graph-folded")
    search(page, "conv1")
    check("what is found in a folded region unfolds it", count(page, ".item") == items and count(page, ".item.selected") == 1)
    page.evaluate("document.querySelector('svg.graph').focus()")
    page.key("n", "n")
    check("the keyboard goes on to the next", "relu" in text(page, ".facts").lower() or "pool" in text(page, ".facts").lower())
    page.key("Escape")
    check("Escape selects nothing", count(page, ".item.selected") == 0)


def bodies(page, path):
    page.open(path)
    search(page, "choose")
    check("a body can be opened", count(page, ".facts .group button") == 2)
    page.evaluate("document.querySelector('.facts .group button').click()")
    page.settle()
    check("a body is a graph of its own", page.evaluate("graphView.index") == 1 and count(page, ".item") >= 2)


def report(page, path):
    page.open(path)
    check("the report shows the graph", not page.evaluate("document.getElementById('graph-section').hidden") and count(page, "#graph .item") > 5)
    check("the program is shown in order", count(page, "#program li") >= 3 and "region 0" in text(page, "#program"))
    search(page, "conv2")
    page.evaluate("[...document.querySelectorAll('.facts .group button')].find((b) => b.innerText === 'show in the timeline').click()")
    page.settle()
    check("a layer of the graph is singled out in the timeline", page.evaluate("view.pinned") >= 0)


def batch(page, path):
    page.open(path)
    check("the summary counts: " + text(page, "#summary"), "Compiled" in text(page, "#summary") and "of 5" in text(page, "#summary"))
    rows = "[...document.querySelectorAll('#models-table tbody tr')].map((r) => r.innerText.split('\\t').map((s) => s.trim()))"
    names = lambda: [r[0] for r in page.evaluate(rows)]
    check("every model has a row, in order: %s" % names(), names() == ["again", "digits", "if", "mark_b_up", "no"])
    check("the codes of failures: " + text(page, "#codes"), "MRV0101 (2)" in text(page, "#codes") and "mrvlc explain MRV0101" in text(page, "#codes"))
    check("files are texts", "mark<b>up.onnx" in text(page, "#models-table") and page.evaluate("document.querySelector('#models-table b')") is None)
    page.evaluate("document.querySelector('#codes button').click()")
    page.settle()
    check("a code shows its models: %s" % names(), names() == ["mark_b_up", "no"])
    page.evaluate("(() => { const i = document.querySelector('#models-tools input'); i.value = 'DIGITS'; i.dispatchEvent(new Event('input')); })()")
    page.settle()
    check("a word finds: %s" % names(), names() == ["digits"])
    page.evaluate("(() => { const i = document.querySelector('#models-tools input'); i.value = ''; i.dispatchEvent(new Event('input')); })()")
    page.evaluate("[...document.querySelectorAll('th button')].find((b) => b.innerText.startsWith('model')).click()")
    page.settle()
    check("a column sorts: %s" % names(), names() == ["no", "mark_b_up", "if", "digits", "again"])
    page.evaluate("[...document.querySelectorAll('th button')].find((b) => b.innerText === 'regions').click()")
    page.settle()
    check("numbers sort, the largest first: %s" % names(), set(names()[:2]) == {"again", "digits"} and names()[2] == "if")
    link = page.evaluate("[...document.querySelectorAll('#models-table a')].map((a) => a.getAttribute('href')).sort()")
    check("a model leads to its report: %s" % link, link == ["again/report.html", "digits/report.html", "if/report.html"])
    page.open(os.path.join(os.path.dirname(path), link[1]))
    check("which is that of the model", text(page, "h1") == "digits")
    page.requests.clear()


def looks(page, path, name):
    """At every width and in both schemes nothing sticks out, and nothing fails."""
    for width in (DESKTOP, 800, PHONE):
        for scheme in ("light", "dark"):
            page.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
            page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
            page.open(path)
            check("%s: nothing sticks out at %d pixels" % (name, width),
                  page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth"))
            shot(page, "%s-%s-%s" % (name, "phone" if width == PHONE else "tablet" if width == 800 else "desktop", scheme))
            accessible(page, "%s at %d pixels, %s" % (name, width, scheme))
    check("%s: no errors: %s" % (name, page.problems), not page.problems)
    others = [r for r in page.requests if not r.startswith("data:") and r != "file://" + os.path.abspath(path)]
    check("%s: no requests: %s" % (name, others), not others)
    page.problems.clear()
    page.requests.clear()
    page.call("Emulation.setDeviceMetricsOverride", width=DESKTOP, height=900, deviceScaleFactor=1, mobile=False)
    page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "light"}])


def main():
    mrvlc, models, folder = sys.argv[1:]
    binary = chromium.find()
    if not binary:
        print("there is no chromium: skipped")
        return 77
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    model = os.path.join(models, "digits", "digits.onnx")

    def run(*arguments, code=0):
        done = subprocess.run([mrvlc, *arguments], check=False)
        check("%s ends with %d" % (arguments, code), done.returncode == code)

    def path(name):
        return os.path.join(folder, name)

    run("compile", "-q", model, "-o", path("a"), "--cpu", "pool")
    run("compile", "-q", model, "-o", path("b"), "--tiles", "2")
    run("graph", path("a"), "-o", path("a.html"))
    run("graph", path("a"), "-o", path("a.svg"))
    maker = os.path.join(os.path.dirname(os.path.abspath(__file__)), "if_model.py")
    subprocess.run(["/usr/bin/python3", maker, path("if.onnx"), path("large.onnx")], check=True)
    run("graph", path("large.onnx"), "--html", "-o", path("large.html"))
    run("graph", path("if.onnx"), "--html", "-o", path("bodies.html"))
    run("diff", path("a"), path("b"), "--html", "-o", path("diff.html"))
    os.mkdir(path("set"))
    for name in ("digits", "again"):
        shutil.copy(model, path("set/%s.onnx" % name))
    shutil.copy(path("if.onnx"), path("set/if.onnx"))
    for name in ("no", "mark<b>up"):
        with open(path("set/%s.onnx" % name), "wb") as file:
            file.write(b"no model")
    run("batch", "-q", path("set"), "-o", path("batch"), code=1)
    pages = [("batch/batch.html", batch), ("large.html", large), ("a.html", compiled), ("bodies.html", bodies), ("a/report.html", report), ("diff.html", None), ("a.svg", None)]
    with chromium.Page(binary) as page:
        for name, test in pages:
            if test:
                test(page, path(name))
            if name != "a.svg":
                looks(page, path(name), name.replace("/", "-").removesuffix(".html"))
            else:
                page.open(path(name))
                check("the picture has its size", page.evaluate("document.documentElement.getBoundingClientRect().height") > 300)
                shot(page, "svg")
    return result()


if __name__ == "__main__":
    sys.exit(main())
