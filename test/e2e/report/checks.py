"""What the tests of pages share: checks that are counted, and what a page shows."""
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


def text(page, selector):
    return page.evaluate("document.querySelector('%s').innerText" % selector)
