#!/usr/bin/env python3
"""Opens every page of `brief view` in Debian's Chromium, and measures it.

usage: view.py [--brief PROGRAM] [--axe FILE] [--pictures DIR] [--files N] [--items N] [--skip-speed]

It needs the package `playwright` of PyPI, Debian's `chromium`, and `axe.min.js` of the npm package `axe-core`
(`npm pack axe-core`). `cargo xtask view` gets both and calls it.

In a real browser, on a project with hostile texts and on the shop of `examples/`: every page is opened light and dark,
360 and 1280 pixels wide, and axe-core finds no violation; nothing is requested from elsewhere and no text of a file
runs; switches and search work, also without scripts; a change on disk is seen, and the place on the page is kept; an
export is opened from disk. With --pictures it writes the pictures of the documentation.

Prints one line of JSON. Speed is measured in a repository of N files and N items:

  {"pages", "violations", "painted_ms", "next_page_ms": {"median", "max"}, "seen_ms", "export_ms", "export_mb", "peak_mb"}

`painted_ms` is from the start of `brief` to the first contentful paint.
"""
import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request

from playwright.sync_api import sync_playwright

ROOT = pathlib.Path(__file__).resolve().parent.parent
HOSTILE = '<script>document.title = "run"</script><img src=x onerror="document.title = 1">\u202e\u2066'
SIZES = {"narrow": (360, 740), "wide": (1280, 900)}


class Failure(Exception):
    """An expectation that is not met."""


def expect(is_met, words):
    if not is_met:
        raise Failure(words)


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def git(directory, *words):
    settings = ["-c", "user.name=T", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *settings, *words], cwd=directory, check=True, capture_output=True)


def hostile_project(top):
    """A project with texts that would like to be more than text."""
    project = top / "hostile"
    rules = [f"  - content: {json.dumps(HOSTILE)}", "    match: ['src/**']"]
    write(project / "AGENTS.yaml", "context:\n" + "\n".join(rules) + "\n")
    write(project / "CLAUDE.md", "x" * 1_000_000 + "\n")
    for number in range(40):
        write(project / f".claude/skills/skill-{number}/SKILL.md", f"---\nname: skill-{number}\ndescription: {json.dumps(HOSTILE)}\n---\n{HOSTILE}\n")
    write(project / "src" / "<b>bold</b>.py", "")
    write(project / "src" / "a.py", "")
    git(project, "init", "-q")
    return project


def shop_project(top):
    """The shop of the examples, with a commit and a change after it."""
    project = top / "shop"
    shutil.copytree(ROOT / "examples" / "shop", project)
    git(project, "init", "-q", "-b", "main")
    git(project, "add", "-A")
    git(project, "commit", "-qm", "first")
    return project


class Viewer:
    """A running `brief view`."""

    running = []

    def __init__(self, program, project, home):
        environment = {**os.environ, "HOME": str(home), "XDG_STATE_HOME": str(home / "state")}
        self.begun_at = time.time()
        self.process = subprocess.Popen([program, "view", "--no-open"], cwd=project, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        Viewer.running.append(self)
        self.address = self.process.stdout.readline().strip()
        expect(self.address.startswith("http://127.0.0.1:"), f"no address: {self.address}")

    def get(self, path=""):
        with urllib.request.urlopen(self.address + path, timeout=60) as answer:
            return answer.read().decode()

    def peak_mb(self):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        line = next(line for line in status.splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) / 1024

    def end(self):
        self.process.kill()
        self.process.wait()


def checked(viewer):
    """Waits until the checks of the project are done."""
    for _ in range(600):
        page = viewer.get()
        if 'id="errors"' in page or "brief init" in page:
            return page
        time.sleep(0.05)
    raise Failure("the project was not checked")


def item_path(page):
    return "item/" + page.split('href="item/')[1].split('"')[0]


class Browser:
    """Chromium with an eye on what pages do."""

    def __init__(self, playwright, axe):
        self.browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        self.axe = axe
        self.pages = 0
        self.violations = []

    def page(self, scheme="light", size="wide", scripts=True):
        width, height = SIZES[size]
        context = self.browser.new_context(color_scheme=scheme, viewport={"width": width, "height": height}, java_script_enabled=scripts, bypass_csp=False)
        page = context.new_page()
        page.foreign, page.troubles = [], []
        page.on("request", lambda request: page.foreign.append(request.url) if urllib.parse.urlparse(request.url).hostname not in ("127.0.0.1", None, "") else None)
        page.on("console", lambda message: page.troubles.append(message.text) if message.type == "error" and "404" not in message.text else None)
        page.on("pageerror", lambda error: page.troubles.append(str(error)))
        return page

    def judge(self, page, name):
        """Holds a page against the rules of axe-core, and against what every page promises."""
        self.pages += 1
        expect(not page.foreign, f"{name} asks {page.foreign}")
        expect(not page.troubles, f"{name} complains: {page.troubles}")
        expect(page.title() not in ("run", "1"), f"{name} runs a text")
        wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        expect(wide <= 0, f"{name} is {wide} pixels too wide")
        if self.axe:
            session = page.context.new_cdp_session(page)
            session.send("Runtime.evaluate", {"expression": self.axe})
            result = page.evaluate("axe.run({ resultTypes: ['violations'], preload: false })")
            for violation in result["violations"]:
                places = [node["html"][:120] for node in violation["nodes"][:2]]
                self.violations.append(f"{name}: {violation['id']}: {places}")


def open_every_page(browser, viewer, paths, name):
    for scheme in ("light", "dark"):
        for size in SIZES:
            page = browser.page(scheme, size)
            for path in paths:
                page.goto(viewer.address + path)
                browser.judge(page, f"{name} {path} {scheme} {size}")
            page.context.close()


def follow_changes(browser, viewer, project):
    """Pages about a file, an item and the table of clients show a change without being asked for."""
    entries = project / "AGENTS.yaml"
    item = item_path(viewer.get("search?q=float"))
    for number, path in enumerate(["file/src/pricing/totals.py", "matrix", "search?q=zweig", item]):
        page = browser.page()
        page.goto(viewer.address + path)
        page.locator("#live", has_text="Updates automatically.").or_(page.locator("#live", has_text="Updated")).wait_for()
        before = page.locator("main").inner_text()
        text = entries.read_text(encoding="utf-8")
        changed = text.replace("context:\n", f"context:\n  - content: Zweig {number} is written.\n", 1)
        if path == item:
            changed = text.replace("float", f"float{number}")
        begun = time.monotonic()
        entries.write_text(changed, encoding="utf-8")
        while page.locator("main").inner_text() == before:
            expect(time.monotonic() - begun < 10, f"{path} does not show a change")
        entries.write_text(text, encoding="utf-8")
        page.context.close()


def use_pages(browser, viewer, project):
    """Switches, search, a live change, a reader without scripts."""
    page = browser.page()
    page.goto(viewer.address + "file/src/pricing/totals.py")
    page.get_by_role("navigation", name="Action").get_by_role("link", name="edit").click()
    expect("on=edit" in page.url, page.url)
    page.get_by_role("navigation", name="Timing").get_by_role("link", name="after").click()
    expect("on=edit" in page.url and "when=after" in page.url, page.url)
    page.get_by_text("Clients", exact=True).click()
    page.get_by_label("gemini", exact=True).check()
    page.get_by_role("button", name="Show").click()
    expect("client=gemini" in page.url and "on=edit" in page.url, page.url)
    page.wait_for_load_state()
    page.keyboard.press("/")
    page.keyboard.type("cents")
    page.keyboard.press("Enter")
    page.wait_for_url("**/search?q=cents")
    expect(page.locator("#found").inner_text() != "0", "the search finds nothing")
    page.locator(".hits a").first.click()
    expect("/item/" in page.url, page.url)

    page.goto(viewer.address)
    page.locator("#live", has_text="Updates automatically.").or_(page.locator("#live", has_text="Updated")).wait_for()
    page.set_viewport_size({"width": 1280, "height": 300})
    time.sleep(3)
    page.evaluate("scrollTo(0, 400)")
    tokens = page.locator("#tokens").inner_text()
    entries = project / "AGENTS.yaml"
    text = entries.read_text(encoding="utf-8")
    entry = "context:\n  - content: This entry was written while the page was open, and it is long enough to count.\n"
    begun = time.monotonic()
    entries.write_text(text.replace("context:\n", entry, 1), encoding="utf-8")
    while page.locator("#tokens").inner_text() == tokens:
        expect(time.monotonic() - begun < 10, "the page does not show a change")
    seen = (time.monotonic() - begun) * 1000
    place = page.evaluate("scrollY")
    expect(place == 400, f"the page moved to {place}")
    page.context.close()

    page = browser.page(scripts=False)
    page.goto(viewer.address)
    page.get_by_role("link", name="Matrix").click()
    expect(page.locator("tbody tr").count() > 0, "there are no rows without scripts")
    page.locator("#q").fill("cents")
    page.get_by_role("button", name="Find").click()
    expect(page.locator(".hits a").count() > 0, "no search without scripts")
    page.context.close()
    return seen


def open_export(browser, program, project, top):
    out = top / "pages"
    subprocess.run([program, "view", "--out", str(out), "--base", "HEAD"], cwd=project, check=True, capture_output=True)
    for scheme in ("light", "dark"):
        page = browser.page(scheme, "narrow")
        seen = set()
        for name in ("index.html", "matrix.html", "change.html", "registry.html", "search.html"):
            page.goto((out / name).as_uri())
            browser.judge(page, f"export {name} {scheme}")
            color = page.evaluate("getComputedStyle(document.querySelector('header')).display")
            expect(color == "flex", "the style sheet is not used")
            seen.update(page.eval_on_selector_all("a[href]", "all => all.map(one => new URL(one.getAttribute('href'), document.baseURI).href)"))
        for way in sorted(seen):
            path = pathlib.Path(urllib.parse.unquote(urllib.parse.urlparse(way).path))
            expect(path.exists(), f"{way} leads nowhere")
        page.goto((out / "search.html").as_uri())
        page.locator("#filter").fill("cents")
        expect("found" in page.locator("#filtered").inner_text(), "the filter of an export does nothing")
        page.context.close()


def take_pictures(browser, viewer, directory):
    directory.mkdir(parents=True, exist_ok=True)
    wanted = [("project", "", "light", "wide"), ("file", "file/src/pricing/totals.py?on=edit", "dark", "wide"), ("narrow", "", "dark", "narrow")]
    for name, path, scheme, size in wanted:
        page = browser.page(scheme, size)
        page.goto(viewer.address + path)
        # The place of the project says nothing to a reader.
        page.evaluate("document.querySelector('footer').remove()")
        page.screenshot(path=directory / f"view-{name}.png")
        page.context.close()


def many_items(top, items):
    """A project with more items than fit on a page."""
    project = top / "many"
    for part in range(20):
        numbers = range(part * items // 20, (part + 1) * items // 20)
        texts = "".join(f"  - content: {json.dumps(f'{number} {HOSTILE}')}\n" for number in numbers)
        write(project / f"part-{part}/AGENTS.yaml", "context:\n" + texts)
        write(project / f"part-{part}/a.py", "")
    git(project, "init", "-q")
    return project


def large_project(top, files, items):
    project = top / "large"
    for number in range(items):
        write(project / f".claude/rules/part-{number % 50}/rule-{number}.md", f"---\npaths: ['part-{number % 100}/deep-{number // 100 % 20}/**']\n---\nRule {number}: write what is needed.\n")
    for number in range(files):
        path = project / f"part-{number % 100}" / f"deep-{number // 100 % 20}" / f"file-{number}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    (project / ".git").mkdir()
    return project


def measure(browser, program, top, home, files, items):
    project = large_project(top, files, items)
    viewer = Viewer(program, project, home)
    page = browser.page()
    page.goto(viewer.address)
    # Of the browser's clock and ours, both since 1970.
    paint = "performance.timeOrigin + performance.getEntriesByName('first-contentful-paint')[0].startTime"
    page.wait_for_function("performance.getEntriesByName('first-contentful-paint').length > 0")
    painted = page.evaluate(paint) - viewer.begun_at * 1000
    page.context.close()
    checked(viewer)
    paths = ["", "matrix", "matrix?page=3", "file/part-7/deep-0/file-7.py", "search?q=rule", "directory/part-7", item_path(viewer.get()), "registry"]
    times = []
    for path in paths * 3:
        begun = time.monotonic()
        viewer.get(path)
        times.append((time.monotonic() - begun) * 1000)
    peak = viewer.peak_mb()
    viewer.end()
    begun = time.monotonic()
    out = top / "exported"
    subprocess.run([program, "view", "--out", str(out)], cwd=project, check=True, capture_output=True)
    export = (time.monotonic() - begun) * 1000
    size = sum(path.stat().st_size for path in out.rglob("*") if path.is_file()) / 1e6
    return {"files": files, "items": items, "painted_ms": round(painted), "next_page_ms": {"median": round(statistics.median(times), 1), "max": round(max(times), 1)}, "export_ms": round(export), "export_mb": round(size, 2), "peak_mb": round(peak)}


def main():
    words = argparse.ArgumentParser()
    words.add_argument("--brief", default=str(ROOT / "target/dist/brief"))
    words.add_argument("--axe")
    words.add_argument("--pictures", type=pathlib.Path)
    words.add_argument("--files", type=int, default=100_000)
    words.add_argument("--items", type=int, default=500)
    words.add_argument("--skip-speed", action="store_true")
    asked = words.parse_args()
    program = str(pathlib.Path(asked.brief).resolve())
    axe = pathlib.Path(asked.axe).read_text(encoding="utf-8") if asked.axe else None
    with tempfile.TemporaryDirectory() as directory, sync_playwright() as playwright:
        top = pathlib.Path(directory)
        home = top / "home"
        home.mkdir()
        browser = Browser(playwright, axe)
        project = shop_project(top)
        viewer = Viewer(program, project, home)
        page = checked(viewer)
        if asked.pictures:
            take_pictures(browser, viewer, asked.pictures)
        paths = ["", "directory/src", "file/src/pricing/totals.py", "file/src/", item_path(page), "matrix", "change", "sessions", "registry", "search", "search?q=cents", "nowhere", "file/src/pricing/totals.py?client=nobody"]
        open_every_page(browser, viewer, paths, "shop")
        seen = use_pages(browser, viewer, project)
        follow_changes(browser, viewer, project)
        open_export(browser, program, project, top)
        viewer.end()
        viewer = Viewer(program, hostile_project(top), home)
        page = checked(viewer)
        paths = ["", "directory/src", "file/src/a.py", "file/CLAUDE.md", item_path(page), "matrix", "search?q=script", "search?q=" + urllib.parse.quote(HOSTILE), "file/" + urllib.parse.quote("src/<b>bold</b>.py")]
        open_every_page(browser, viewer, paths, "hostile")
        viewer.end()
        viewer = Viewer(program, many_items(top, 10_000), home)
        page = checked(viewer)
        open_every_page(browser, viewer, ["", "file/part-7/a.py", item_path(page), "matrix", "matrix?page=40", "search?q=9999"], "10,000 items")
        viewer.end()
        report = {"pages": browser.pages, "violations": len(browser.violations), "seen_ms": round(seen)}
        if not asked.skip_speed:
            report |= measure(browser, program, top, home, asked.files, asked.items)
        print(json.dumps(report))
        for violation in browser.violations:
            print(violation, file=sys.stderr)
        return 1 if browser.violations else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failure as failure:
        print(f"error: {failure}", file=sys.stderr)
        sys.exit(1)
    finally:
        for viewer in Viewer.running:
            viewer.end()
