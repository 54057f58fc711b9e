"""What the tests of pages share: checks that are counted, what a page shows, and whether axe-core finds fault with it."""
import functools
import os

failures = 0


def check(what, condition):
    global failures
    if not condition:
        failures += 1
        print("FAILED: " + what)


def result():
    """Prints how many checks failed; the exit code."""
    print("%d failures" % failures)
    return 1 if failures else 0


@functools.cache
def axe():
    """axe-core's script, of $MRVLC_AXE (scripts/pages.sh); empty without it."""
    path = os.environ.get("MRVLC_AXE")
    if not path:
        return ""
    with open(path, encoding="utf-8") as file:
        return file.read()


def accessible(page, where):
    if not axe():
        return
    page.evaluate(axe() + "\n;0")
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']}).then((r) => r.violations.filter((v) => ['serious', 'critical'].includes(v.impact))"
                          ".map((v) => `${v.id}: ${v.nodes[0].html.slice(0, 160)}`))")
    check("%s: axe finds nothing serious: %s" % (where, found), not found)


def text(page, selector):
    return page.evaluate("document.querySelector('%s').innerText" % selector)
