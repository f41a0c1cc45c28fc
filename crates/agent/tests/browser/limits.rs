//! Pages that take too long or too much.

use brief_testkit::needs;
use serde_json::json;

use super::Run;
use super::site::{Answer, Site};

#[test]
fn a_page_that_never_ends_is_handed_over_as_it_is() {
    needs!(Chromium);
    let site = Site::serve(&[
        ("/", Answer::Page("first".to_owned())),
        ("/endless", Answer::Endless("<p>so far</p>".to_owned())),
        ("/silent", Answer::Silence),
    ]);
    let run = Run::at(&site);
    let seen = run.on(
        &site,
        "const other = await host.browser.open(base + '/endless', { timeout: 1000 });
         const found = [other.loaded, (await other.text()).trim()];
         return [...found, await page.text()];",
    );
    assert_eq!(seen, json!([false, "so far", "first"]));
    let seen = run.on(
        &site,
        "return [await page.goto(base + '/silent', { timeout: 300 }).catch(String), await page.text()]",
    );
    let said = format!("Error: `{}/silent` did not answer in time", site.base());
    assert_eq!(seen, json!([said, "first"]));
}

#[test]
fn a_script_that_never_ends_is_an_error_of_that_page() {
    needs!(Chromium);
    let site = Site::serve(&[
        ("/", Answer::Page("<button onclick='for (;;) {}'>b</button>".to_owned())),
        ("/other", Answer::Page("works".to_owned())),
    ]);
    let run = Run::at(&site);
    let spin = format!(
        "const page = await host.browser.open('{}/'); await page.click('button', {{ timeout: 500 }})",
        site.base()
    );
    let go_on = format!(
        "const [first] = await host.browser.pages({{ timeout: 500 }}); const page = await host.browser.open('{}/other'); return await page.text()",
        site.base()
    );
    let mut tools = run.tools(&["browser"], &[("spin", &spin), ("goOn", &go_on)]);
    let error = tools.call_tool("spin", &json!({}), &json!({})).unwrap_err().to_string();
    assert!(error.starts_with("the page did not answer in time"), "{error}");
    assert_eq!(tools.call_tool("goOn", &json!({}), &json!({})).unwrap(), json!("works"));
}

#[test]
fn floods_are_cut_or_refused() {
    needs!(Chromium);
    let site = Site::serve(&[
        ("/", Answer::Page("<pre id=p></pre><script>p.textContent = 'x'.repeat(3e6)</script>".to_owned())),
        (
            "/many",
            Answer::Page(
                "<script>for (let i = 0; i < 30000; i++) { const a = document.createElement('a');
                 a.href = '/' + i; a.textContent = i; a.style.display = 'block'; document.body.append(a) }</script>"
                    .replace("<script>", "<body><script>"),
            ),
        ),
        (
            "/windows",
            Answer::Page("<button onclick='for (let i = 0; i < 60; i++) open(\"/other\")'>b</button>
                <script>for (let i = 0; i < 20; i++) alert(i); setInterval(() => console.log('x'.repeat(1e5)), 1)</script>".to_owned()),
        ),
        ("/other", Answer::Page("other".to_owned())),
    ]);
    let run = Run::at(&site);
    let seen = run.on(
        &site,
        "const text = await page.text(); await page.goto(base + '/many');
         const refused = [await page.links().catch(String), await page.tree().catch(String)];
         await page.goto(base + '/windows'); await page.click('button'); await page.wait(300);
         const pages = (await host.browser.pages()).length;
         let most = ''; for (let i = 0; i < 20; i++) most = await host.browser.open(base + '/other').then(() => '', String);
         return [text.length < 1100000, text.split('\\n').pop(), ...refused, pages <= 16, most];",
    );
    assert_eq!(
        seen,
        json!([
            true,
            "[cut: the text has more than 1048576 characters]",
            "Refused: more than 20000 links",
            "Refused: the page has 30004 elements, more than 20000",
            true,
            "Refused: 16 pages are open, the maximum; close one"
        ])
    );
}
