#!/usr/bin/env python3
"""report.html in a real browser: browser_test.py REPORT_PAGES MRVLC MODEL.onnx FOLDER

Exits with 77 (skipped) when there is no chromium. With $MRVLC_SCREENSHOTS=DIR it leaves pictures there.
"""
import os
import shutil
import subprocess
import sys

import chromium
from checks import accessible, check, result, text

ALT, SHIFT = 1, 8


def picture(page, canvas):
    return page.evaluate("document.getElementById('%s').toDataURL()" % canvas)


def pictures(page):
    return [picture(page, canvas) for canvas in ("timeline", "memory", "overview")]


def span(page):
    return page.evaluate("view.to - view.from")


def clean(page, path):
    """No errors, and nothing asked for but the file itself."""
    check("%s: no errors: %s" % (path, page.problems), not page.problems)
    others = [r for r in page.requests if not r.startswith("data:")]
    check("%s: no requests: %s" % (path, others), others == ["file://" + os.path.abspath(path)])
    page.requests.clear()
    page.problems.clear()


def shot(page, name):
    folder = os.environ.get("MRVLC_SCREENSHOTS")
    if folder:
        os.makedirs(folder, exist_ok=True)
        page.screenshot(os.path.join(folder, name + ".png"), full=True)


def zooming(page):
    box = page.box("#timeline")
    x, y = box["x"] + box["width"] / 2, box["y"] + 60
    first, total = pictures(page), span(page)
    under = "timeline.chart.cycle(%f)" % (box["width"] / 2)
    cycle = page.evaluate(under)
    page.mouse("mouseWheel", x, y, deltaX=0, deltaY=-600)
    page.settle()
    zoomed = pictures(page)
    check("the wheel zooms in", span(page) < 0.5 * total)
    check("zooming keeps the cycle under the pointer", abs(page.evaluate(under) - cycle) < total * 1e-3)
    check("zooming changes every drawing", all(a != b for a, b in zip(first, zoomed)))
    before, width = page.evaluate("view.from"), span(page)
    page.drag(x, y, x + 200, y)
    check("a drag moves back in time", page.evaluate("view.from") < before and abs(span(page) - width) < 1)
    check("moving changes what is drawn", picture(page, "timeline") != zoomed[0])
    page.mouse("mouseWheel", x, y, SHIFT, deltaX=0, deltaY=200)
    page.settle()
    check("Shift and the wheel move", abs(span(page) - width) < 1)
    page.mouse("mousePressed", x, y, button="left", clickCount=2)
    page.mouse("mouseReleased", x, y, button="left", clickCount=2)
    page.settle()
    check("a double click shows everything", span(page) == total)
    page.drag(x, y, x + 100, y, SHIFT)
    check("Shift and a drag zoom to what was marked", 0.05 * total < span(page) < 0.15 * total)
    page.mouse("mouseWheel", x, y, deltaX=0, deltaY=100000)
    page.settle()
    check("zooming out ends at everything", span(page) == total)
    for _ in range(40):
        page.mouse("mouseWheel", x, y, deltaX=0, deltaY=-2000)
    page.settle()
    check("zooming in ends at some cycles", 0 < span(page) <= 64)
    page.mouse("mouseMoved", 5, 5)
    page.evaluate("view.pinned = -1; view.hovered = -1; view.show(0, view.total)")
    page.settle()
    check("everything looks as it did at first", pictures(page) == first)


def keys(page):
    total, first = span(page), picture(page, "timeline")
    page.evaluate("document.getElementById('timeline').focus()")
    page.key("+", "+")
    page.key("+", "+")
    check("+ zooms in", span(page) < 0.6 * total)
    check("+ changes what is drawn", picture(page, "timeline") != first)
    before = page.evaluate("view.from")
    page.key("ArrowRight")
    check("the arrow moves", page.evaluate("view.from") > before)
    page.key("ArrowDown")
    page.key("ArrowDown")
    detail = text(page, "#detail")
    check("the keyboard reaches a bar: " + detail, "(Conv)" in detail and "cycles" in detail)
    page.key(".", ".")
    check("the next bar is another", text(page, "#detail") != detail)
    page.key("Enter")
    check("Enter singles out a layer", page.evaluate("view.pinned") >= 0)
    page.key("Escape")
    check("Escape ends it", page.evaluate("view.pinned") == -1 and text(page, "#detail") == "")
    page.key("-", "-")
    page.key("0", "0")
    check("0 shows everything", span(page) == total)
    page.evaluate("document.getElementById('memory').focus()")
    page.key("ArrowDown")
    check("the keyboard reaches a range of memory", "addresses" in text(page, "#detail"))
    page.key("Escape")


def hovering(page):
    box = page.box("#timeline")
    at = page.evaluate("(() => { const row = timeline.rows[1], bar = row.bars[row.bars.length >> 1];"
                       "return [timeline.chart.x((bar.begin + bar.moved) / 2), row.y + 4]; })()")
    page.mouse("mouseMoved", box["x"] + at[0], box["y"] + at[1])
    page.settle()
    tip = text(page, "#tip")
    for part in ("(Conv)", "tile 0, DMA in", "cycles, bound by DDR", "KiB", "waited", "channels x 8"):
        check("hovering shows '%s': %s" % (part, tip), part in tip)
    shot(page, "hover")
    page.click(box["x"] + at[0], box["y"] + at[1])
    check("a click singles out the layer", page.evaluate("view.pinned") >= 0)
    page.evaluate("view.pinned = -1; view.changed()")
    box = page.box("#memory")
    at = page.evaluate("(() => { const b = memoryMap.box(memoryMap.chart, memoryMap.uses[6]);"
                       "return [b.left + b.width / 2, b.top + b.height / 2]; })()")
    page.mouse("mouseMoved", box["x"] + at[0], box["y"] + at[1])
    page.settle()
    tip = text(page, "#tip")
    for part in ("holds", "KiB", "addresses", "0x", "tiles", "cycles"):
        check("hovering over memory shows '%s': %s" % (part, tip), part in tip)
    page.mouse("mouseMoved", 5, 5)
    page.settle()
    check("the tip goes away", page.evaluate("document.getElementById('tip').hidden"))


def memory(page):
    box = page.box("#memory")
    x, y, first = box["x"] + box["width"] / 2, box["y"] + box["height"] - 30, picture(page, "memory")
    page.mouse("mouseWheel", x, y, ALT, deltaX=0, deltaY=-500)
    page.settle()
    check("Alt and the wheel zoom addresses", page.evaluate("memoryMap.high - memoryMap.low") < 1 << 19)
    check("zooming addresses changes what is drawn", picture(page, "memory") != first)
    page.mouse("mouseMoved", 5, 5)
    choose = "(() => { const s = document.querySelector('#memory-tools select'); s.value = '%d'; s.dispatchEvent(new Event('change')); })()"
    page.evaluate(choose % 7)
    page.settle()
    check("another tile holds other things", picture(page, "memory") != first)
    page.evaluate(choose % 0)
    page.settle()


def column(page, n):
    return page.evaluate("[...document.querySelectorAll('#layers-table tbody tr')].map((r) => r.cells[%d].innerText)" % n)


def table(page):
    page.box("#layers")
    cycles = [int(c.replace("\u202f", "")) for c in column(page, 4)]
    check("layers are sorted by cycles", len(cycles) == 40 and cycles == sorted(cycles, reverse=True))
    head = page.box("#layers-table th:first-child button")
    page.click(head["x"] + head["width"] / 2, head["y"] + head["height"] / 2)
    page.evaluate("document.querySelector('#layers-table th:first-child button').focus()")
    page.key("Enter", "\r")
    numbers = [int(n) for n in column(page, 0)]
    check("a click on a head and Enter sort", numbers == sorted(numbers))
    check("the head says so", page.evaluate("document.querySelector('#layers-table th').ariaSort") == "ascending")
    page.evaluate("(() => { const i = document.querySelector('#layers-tools input'); i.value = 'CONV17';"
                  "i.dispatchEvent(new Event('input')); })()")
    check("the filter keeps what holds the text", column(page, 0) == ["17"])
    page.evaluate("document.querySelector('#layers-table tbody button').click()")
    page.settle()
    check("a layer is shown in the timeline", span(page) < 0.1 * page.evaluate("view.total") and page.evaluate("view.pinned") == 17)


def layout(page, path):
    for width, scheme in ((1400, "dark"), (1400, "light"), (800, "dark"), (800, "light"), (390, "dark"), (390, "light")):
        page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        page.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        page.settle()
        check("%s: nothing sticks out at %d pixels" % (path, width),
              page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth"))
        accessible(page, "%s at %d pixels, %s" % (path, width, scheme))


def memory_page(page, path):
    shot(page, "memory")
    zooming(page)
    keys(page)
    hovering(page)
    memory(page)
    table(page)


def large_page(page, path):
    check("all bars are there", page.evaluate("timeline.rows.reduce((n, r) => n + (r.path ? 0 : r.bars.length), 0)") == 51200)
    cpu = page.cpu_seconds()
    page.evaluate("for (let i = 0; i < 5; ++i) timeline.chart.draw(); timeline.chart.context.getImageData(0, 0, 1, 1).width")
    took = 1e3 * (page.cpu_seconds() - cpu) / 5
    check("51 200 instructions are drawn in less than 300 ms of processor time: %.1f" % took, took < 300)
    check("the table shows its first rows and offers more", len(column(page, 0)) == 300 and "300 of 400 rows" in text(page, "#layers-table .more"))
    shot(page, "large")


def merged_page(page, path):
    check("what is merged is said", "51\u202f200 instructions are drawn as" in text(page, "#time-notice"))
    check("what is left out of memory is said", "are left out" in text(page, "#memory-notice"))
    check("what is left out of the list is said", "1 more are not listed" in text(page, "#placement"))


def regions_page(page, path):
    check("the longest region is shown first", text(page, "#layers-table tbody tr:nth-child(9) td") != "")
    page.evaluate("document.querySelectorAll('#placement tbody tr')[1].click()")
    page.settle()
    check("another region can be chosen", len(column(page, 0)) == 3 and text(page, "#layers-title") == "Layers of region 0")


def host_page(page, path):
    check("there is no timeline without a region", page.evaluate("document.getElementById('time').hidden"))


def hostile_page(page, path):
    check("no text of the model runs", page.evaluate("window.broken") is None)
    check("it is shown as it is", text(page, "h1").startswith("</script><script>window.broken=1</script><!--\"'`\\\\x0a\\x01\\xff"))
    clean(page, path)
    page.evaluate("(() => { const s = document.createElement('script'); s.textContent = 'window.broken = 1'; document.body.append(s); })()")
    check("the policy lets no other script run", page.evaluate("window.broken") is None)
    page.evaluate("fetch('http://127.0.0.1:9/').catch(() => 0)")
    check("the policy lets nothing be fetched", any("Content Security Policy" in p for p in page.problems))
    page.problems.clear()
    page.requests[:] = ["file://" + os.path.abspath(path)]


def unreadable_names(model, to):
    """The model with names that are no UTF-8 and look like HTML, of the same length so that the file stays valid."""
    with open(model, "rb") as file:
        bytes_ = file.read()
    for name, other in ((b"conv1", b'<b>\xff"'), (b"conv2", b"<\xed\xa0\x80>"), (b"pool", b"&lt;")):
        bytes_ = bytes_.replace(name, other)
    with open(to, "wb") as file:
        file.write(bytes_)


def unreadable_page(page, path):
    names = " ".join(column(page, 1))
    for name in ('<b>\\xff" (Conv)', "<\\xed\\xa0\\x80> (Conv)", "&lt; (MaxPool)"):
        check("the page shows %s: %s" % (name, names), name in names)
    check("what is on the CPU is shown", "Gemm" in text(page, "#placement tbody"))
    check("what is expected is shown", "region 0: about" in text(page, "#placement pre"))


def digits_page(page, path):
    check("the model is named", text(page, "h1") == "digits")
    check("nothing measured, nothing shown", page.evaluate("document.getElementById('measured').hidden"))
    check("a real compile has bars", page.evaluate("timeline.rows[3].bars.length") > 0)
    shot(page, "digits")


def measured_page(page, path):
    """Of `profile --html`; the names are those of unreadable_page."""
    rows = "[...document.querySelectorAll('#measured-body tbody tr')].map((r) => [...r.cells].map((c) => c.innerText))"
    found = page.evaluate(rows)
    names = " ".join(row[2] for row in found)
    check("measured steps are shown: %s" % found, len(found) >= 2 and any(row[1].startswith("region") for row in found) and any(row[1] == "CPU" for row in found))
    check("a region of the simulator is not compared: %s" % found, all((row[5] == "\u2013") == row[1].startswith("region") for row in found))
    check("those beyond what is expected come first: %s" % found, [row[6] for row in found if row[6] != "\u2013"] == [row[6] for row in found][:sum(row[6] != "\u2013" for row in found)])
    check("their names are as they are: %s" % names, '<b>\\xff"' in names or "<\\xed\\xa0\\x80>" in names or "&lt;" in names)
    said = text(page, "#measured-body")
    for part in ("this machine, 3 runs on zeros", "simulator", "of what was expected of them"):
        check("the page says '%s': %s" % (part, said), part in said)
    page.evaluate("document.querySelectorAll('#measured-body th button')[0].click()")
    check("they can be sorted", sorted(int(row[0]) for row in page.evaluate(rows)) == list(range(len(found))))
    shot(page, "measured")


def dark(binary, path):
    with chromium.Page(binary) as page:
        page.open(path)
        light = picture(page, "timeline")
        background = "getComputedStyle(document.body).backgroundColor"
        bright = page.evaluate(background)
        page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
        page.settle()
        check("the page follows the dark scheme", page.evaluate(background) != bright)
        check("the drawings follow it", picture(page, "timeline") != light)
        shot(page, "dark")
        clean(page, path)


def main():
    pages_tool, mrvlc, model, folder = sys.argv[1:]
    binary = chromium.find()
    if not binary:
        print("there is no chromium: skipped")
        return 77
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    subprocess.run([pages_tool, folder], check=True)
    out = os.path.join(folder, "digits")
    subprocess.run([mrvlc, "compile", "-q", model, "-o", out, "--cpu", "pool"], check=True)
    unreadable = os.path.join(folder, "unreadable.onnx")
    unreadable_names(model, unreadable)
    subprocess.run([mrvlc, "compile", "-q", unreadable, "-o", os.path.join(folder, "unreadable"), "--cpu", "Gemm"], check=True)
    subprocess.run([mrvlc, "profile", os.path.join(folder, "unreadable"), "--measure", "--bench", "3", "--html", os.path.join(folder, "measured.html")],
                   check=True, stdout=subprocess.DEVNULL)
    tests = [("memory.html", memory_page), ("large.html", large_page), ("merged.html", merged_page), ("regions.html", regions_page),
             ("host.html", host_page), ("hostile.html", hostile_page), ("digits/report.html", digits_page), ("unreadable/report.html", unreadable_page),
             ("measured.html", measured_page)]
    with chromium.Page(binary) as page:
        for name, test in tests:
            path = os.path.join(folder, name)
            page.call("Emulation.setDeviceMetricsOverride", width=1400, height=1000, deviceScaleFactor=1, mobile=False)
            page.open(path)
            test(page, path)
            layout(page, name)
            clean(page, path)
    dark(binary, os.path.join(folder, "memory.html"))
    return result()


if __name__ == "__main__":
    sys.exit(main())
