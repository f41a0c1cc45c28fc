#!/usr/bin/env python3
"""Opens the site of the documentation in an installed Chromium, at two widths, as a reader would.

usage: book.py --site DIR [--pictures DIR]

`cargo xtask book --open` builds the site and calls this. It needs the package `playwright` of PyPI and Chromium or Chrome.

At 390 and 1280 pixels: the first page has its picture, the sidebar has every part and is reachable, the search finds the page about an ignored rule by
the words of its reader, a tutorial, a how-to, a reference page and a generated page are no wider than the window, every image has loaded, nothing
is requested from elsewhere, and no script fails. Prints one line for each width.
"""

import argparse
import functools
import http.server
import pathlib
import shutil
import sys
import threading

from playwright.sync_api import sync_playwright

BROWSERS = ["chromium", "google-chrome", "chromium-browser"]
SIZES = {"narrow": (390, 844), "wide": (1280, 900)}
PAGES = [
    "index.html", "docs/tutorials/first-steps.html", "docs/how-to/why-ignored.html", "docs/how-to/roll-out.html", "docs/reference/privacy.html",
    "docs/reference/json.html", "docs/reference/cli.html", "docs/clients/index.html", "docs/clients/claude.html", "docs/dev/benchmarks.html",
]
PARTS = ["Tutorials", "How to", "Explanation", "Reference", "Clients", "Diagnostics", "Examples", "The project"]
# What a reader types, and a part of the title of the page that has to be one of the first two.
SEARCHES = {
    "rule ignored": "Find out why a rule was ignored",
    "uninstall hook": "hook",
    "telemetry": "Privacy",
    "rollback": "Roll out",
}


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def expect(is_met, words):
    if not is_met:
        raise SystemExit(f"error: {words}")


def check(browser, root, name, size, pictures):
    """Opens the pages at one size."""
    context = browser.new_context(viewport={"width": size[0], "height": size[1]})
    page = context.new_page()
    problems, requests = [], set()
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("requestfailed", lambda request: problems.append(f"not loaded: {request.url}"))
    page.on("request", lambda request: requests.add(request.url))
    for path in PAGES:
        answer = page.goto(f"{root}/{path}", wait_until="load")
        expect(answer and answer.ok, f"{path}: {answer and answer.status}")
        expect(page.locator("main h1").count() >= 1, f"{path} has no heading")
        broken = page.evaluate("[...document.images].filter(image => !image.complete || image.naturalWidth === 0).map(image => image.src)")
        expect(not broken, f"{path}: images that are not shown: {broken}")
        wider = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        expect(wider <= 1, f"{path} is {wider} pixels wider than a window of {size[0]}")
        if pictures and path in (PAGES[0], PAGES[2], PAGES[5]):
            page.screenshot(path=str(pictures / f"{pathlib.Path(path).stem}-{name}.png"))
    page.goto(f"{root}/index.html", wait_until="load")
    sidebar = page.locator("#mdbook-sidebar, #sidebar, nav.sidebar").first
    if not sidebar.is_visible() or sidebar.bounding_box()["x"] < 0:
        page.locator("#mdbook-sidebar-toggle, #sidebar-toggle").first.click()
        page.wait_for_function("(() => { const bar = document.querySelector('nav.sidebar'); return bar && bar.getBoundingClientRect().x >= 0; })()")
    found = sidebar.locator("li.part-title").all_inner_texts()
    expect(found == PARTS, f"the sidebar has {found}")
    if pictures:
        page.screenshot(path=str(pictures / f"sidebar-{name}.png"))
    for words, title in SEARCHES.items():
        page.goto(f"{root}/index.html?search={words.replace(' ', '+')}", wait_until="load")
        results = page.locator("#mdbook-searchresults li a, #searchresults li a")
        results.first.wait_for()
        first = results.all_inner_texts()[:2]
        expect(any(title in text for text in first), f"a search for `{words}` finds {first}")
        if pictures and words == "rule ignored":
            page.screenshot(path=str(pictures / f"search-{name}.png"))
    elsewhere = [url for url in requests if not url.startswith((root, "data:"))]
    expect(not elsewhere, f"requested from elsewhere: {elsewhere}")
    expect(not problems, f"problems in the browser: {problems}")
    print(f"{name}: {len(PAGES)} pages, {len(found)} parts, {len(SEARCHES)} searches at {size[0]} pixels")
    context.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--site", type=pathlib.Path, required=True)
    parser.add_argument("--pictures", type=pathlib.Path)
    arguments = parser.parse_args()
    if arguments.pictures:
        arguments.pictures.mkdir(parents=True, exist_ok=True)
    serve = functools.partial(Quiet, directory=str(arguments.site))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), serve)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with sync_playwright() as playwright:
        installed = next(filter(None, map(shutil.which, BROWSERS)), None)
        expect(installed, f"none of these is installed: {', '.join(BROWSERS)}")
        browser = playwright.chromium.launch(executable_path=installed, args=["--no-sandbox"])
        for name, size in SIZES.items():
            check(browser, f"http://127.0.0.1:{server.server_port}", name, size, arguments.pictures)
        browser.close()
    server.shutdown()


if __name__ == "__main__":
    sys.exit(main())
