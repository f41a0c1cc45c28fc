//! Reading pages and acting on them.

use brief_testkit::needs;
use serde_json::json;

use super::site::{Answer, Site};
use super::{Run, hosts};

const FORM: &str = "<!doctype html><title>Form</title><h1>Order</h1>
<form action=/done method=post>
<label>Name <input name=name></label> <textarea name=memo>old</textarea>
<select name=size><option value=s>Small<option value=l>Large</select>
<input type=date name=day> <input type=password name=secret>
<label><input type=checkbox name=fast value=yes> Fast</label>
<button id=send>Send</button></form>";

#[test]
fn a_form_is_filled_and_sent() {
    needs!(Chromium);
    let site = Site::serve(&[
        ("/", Answer::Page(FORM.to_owned())),
        ("/done", Answer::Page("<title>Done</title><p>BODY</p>".to_owned())),
    ]);
    let run = Run::at(&site);
    let seen = run.on(
        &site,
        "await page.fill('[name=name]', 'Ada & Co'); await page.fill('textarea', 'two\\nlines');
         await page.fill('select', 'Large'); await page.fill('[name=day]', '2026-11-17');
         await page.fill('[name=secret]', 's3cret-text'); await page.click('text=Fast');
         const before = [page.status, page.loaded, await page.title(), await page.text('[name=name]')];
         await page.click('#send');
         return [before, await page.title(), await page.url(), await page.text()];",
    );
    let sent =
        "name=Ada+%26+Co&memo=two%0D%0Alines&size=l&day=2026-11-17&secret=s3cret-text&fast=yes";
    assert_eq!(
        seen,
        json!([[200, true, "Form", "Ada & Co"], "Done", format!("{}/done", site.base()), sent])
    );
    // Every call is in the log, and no typed text. The browser itself asks no server about the form.
    let log = run.log();
    assert_eq!(hosts(&log), [(format!("localhost:{}", site.port), "allowed".to_owned())], "{log}");
    assert!(
        log.contains(&format!(
            "\"ability\":\"browser\",\"call\":\"open\",\"target\":\"GET {}/\"",
            site.base()
        )),
        "{log}"
    );
    assert!(
        log.contains("\"call\":\"fill\"") && log.contains("\"target\":[1,\"[name=secret]\"]"),
        "{log}"
    );
    assert!(!log.contains("s3cret") && !log.contains("Ada"), "{log}");
    assert_eq!(
        log.matches("\"verdict\":\"done\"").count(),
        log.matches("\"event\":\"ask\"").count()
    );
}

#[test]
fn keys_are_pressed() {
    needs!(Chromium);
    let site = Site::serve(&[
        ("/", Answer::Page("<form action=/found><input name=q autofocus></form>".to_owned())),
        ("/found", Answer::Page("REQUEST".to_owned())),
    ]);
    let seen = Run::at(&site).on(
        &site,
        "await page.fill('input', 'old'); await page.press('Control+A'); await page.press('x');
         await page.press('Enter'); return await page.text();",
    );
    assert_eq!(seen, json!("GET /found?q=x HTTP/1.1"));
    let error = Run::at(&site).error(&site, "await page.press('Entr')");
    assert!(error.starts_with("Refused: unknown key"), "{error}");
}

#[test]
fn what_scripts_make_is_waited_for() {
    needs!(Chromium);
    let site = Site::page(
        "<script>setTimeout(() => { const b = document.createElement('button'); b.id = 'late';
         b.textContent = 'Late'; b.onclick = () => setTimeout(() => b.outerHTML = '<p id=end>The end</p>', 200);
         document.body.append(b) }, 300)</script><body>Start",
    );
    let seen = Run::at(&site).on(
        &site,
        "const first = await page.text(); await page.click('text=Late'); await page.wait({ text: 'The end' });
         await page.wait({ gone: '#late' }); await page.wait('#end'); await page.wait(10);
         return [first, await page.text('#end')];",
    );
    assert_eq!(seen, json!(["Start", "The end"]));
}

#[test]
fn a_page_is_read_as_data() {
    needs!(Chromium);
    let site = Site::page(
        "<title>Data</title><p class=p hidden>Hidden</p><p class=p>Shown</p><main><h2>Prices</h2><a href='/next?a=1'>Next <b>page</b></a>
         <table id=t><caption>All</caption><tr><th>Name<th>Price<tr><td rowspan=2>Ink<td>3<tr><td>4
         <tr><td colspan=2>none</table><input aria-label=Amount value=7><button disabled>Buy</button></main>
         <script>Array.prototype.map = () => 'broken'; document.querySelector = null</script>",
    );
    let seen = Run::at(&site).on(
        &site,
        "return { shown: await page.text('.p'), links: await page.links(), table: await page.table('#t'), tree: await page.tree() }",
    );
    assert_eq!(seen["shown"], "Shown");
    assert_eq!(
        seen["links"],
        json!([{"text": "Next page", "url": format!("{}/next?a=1", site.base())}])
    );
    assert_eq!(
        seen["table"],
        json!({"caption": "All", "header": ["Name", "Price"], "rows": [["Ink", "3"], ["Ink", "4"], ["none", "none"]]})
    );
    let tree = seen["tree"].to_string();
    for part in [
        "\"role\":\"document\"",
        "\"name\":\"Data\"",
        "{\"role\":\"heading\",\"name\":\"Prices\",\"level\":2}",
        "{\"role\":\"textbox\",\"name\":\"Amount\",\"value\":\"7\"}",
        "{\"role\":\"button\",\"name\":\"Buy\",\"disabled\":true}",
    ] {
        assert!(tree.contains(part), "{part} in {tree}");
    }
}

/// One frame of the same host, and one of another, which has a process of its own.
#[test]
fn frames_are_read_and_used() {
    needs!(Chromium);
    let inner = "<p>Frame REQUEST</p><input id=i><button id=b onclick=\"this.textContent = 'Got ' + i.value\">Go</button>";
    let site = Site::serve(&[
        (
            "/",
            Answer::Page(
                "<p>Around</p><iframe id=near src=/near></iframe>
                 <iframe id=far src='http://127.0.0.1:PORT/far'></iframe>"
                    .to_owned(),
            ),
        ),
        ("/near", Answer::Page(inner.to_owned())),
        ("/far", Answer::Page(inner.to_owned())),
    ]);
    let mut run = Run::at(&site);
    run.hosts.push(format!("127.0.0.1:{}", site.port));
    let seen = run.on(
        &site,
        "const said = [];
         for (const name of ['near', 'far']) {
           const frame = await page.frame('#' + name);
           await frame.fill('#i', name); await frame.click('#b'); said.push(await frame.text('#b'));
         }
         return [said, (await page.text()).split(/\\n+/), (await page.frames()).length];",
    );
    assert_eq!(seen[0], json!(["Got near", "Got far"]));
    let text = seen[1].to_string();
    for part in ["Around", "Frame GET /near HTTP/1.1", "Frame GET /far HTTP/1.1"] {
        assert!(text.contains(part), "{text}");
    }
    assert_eq!(seen[2], json!(2));
}

#[test]
fn what_cannot_be_used_is_an_error_with_its_reason() {
    needs!(Chromium);
    let site = Site::page(
        "<button id=off disabled>Off</button><button id=hidden style='display:none'>H</button><p id=p>P</p>
         <button id=under>Under</button><div id=over style='position:fixed;inset:0'></div>
         <input id=file type=file><input id=box type=checkbox><select id=s><option>a</select><input id=pw type=password>",
    );
    let run = Run::at(&site);
    let seen = run.on(
        &site,
        "const errors = [];
         const soon = { timeout: 100 };
         for (const [name, ...args] of [['click', '#none', soon], ['click', '#off', soon], ['click', '#hidden', soon],
           ['click', '#under', soon], ['fill', '#p', 'x'], ['fill', '#file', 'x'], ['fill', '#box', 'x'],
           ['fill', '#s', 'b'], ['text', '#pw'], ['click', '[['], ['table', '#p'], ['frame', '#p'], ['fill', '#p'],
           ['wait', {}]]) {
           errors.push(await page[name](...args).then(() => 'done', (error) => String(error)));
         }
         return errors;",
    );
    let expected = [
        "Error: not found on the page: `#none`",
        "Error: `#off` is disabled",
        "Error: `#hidden` is not visible",
        "Error: `#under` is covered by <div#over>",
        "Error: `#p` is <p#p>, which does not accept text",
        "Error: `#file` is for a file, and tools cannot send files",
        "Error: `#box` is a checkbox: click it",
        "Error: `#s` has no such option",
        "Error: `#pw` is a password, which tools cannot read",
        "Error: cannot read the page: ",
        "Error: `#p` is not a table",
        "Error: `#p` is not a frame",
        "Refused: argument 2 must be the text",
        "Refused: wait for `selector`, `gone`, `text` or `url`",
    ];
    let said: Vec<&str> =
        seen.as_array().unwrap().iter().map(|one| one.as_str().unwrap()).collect();
    assert_eq!(said.len(), expected.len());
    for (said, expected) in said.iter().zip(expected) {
        assert!(said.starts_with(expected), "{said} should be {expected}");
    }
}

/// The option `timeout` of every call that waits is its limit, in milliseconds.
#[test]
fn a_caller_says_how_long_it_waits() {
    needs!(Chromium);
    let site = Site::serve(&[
        ("/", Answer::Page("<iframe id=f></iframe><p id=p>P</p>".to_owned())),
        ("/silent", Answer::Silence),
    ]);
    let run = Run::at(&site);
    let seen = run
        .try_on(
            &["browser", "fs"],
            &site,
            "const short = { timeout: 60 }, waits = [];
         for (const [name, ...args] of [['click', '#no', short], ['fill', '#no', 'x', short], ['text', '#no', short],
           ['table', '#no', short], ['frame', '#no', short], ['wait', '#no', short], ['wait', { text: 'no', ...short }],
           ['wait', { url: 'no', ...short }], ['wait', { gone: '#p', ...short }], ['download', '#p', 'in', short],
           ['screenshot', { selector: '#no', ...short }], ['goto', base + '/silent', short]]) {
           const start = Date.now();
           const said = await page[name](...args).then(() => 'done', (error) => error.name);
           waits.push([name, said, Date.now() - start < 4900]);
         }
         const wrong = [];
         for (const timeout of [-1, '5', NaN, true]) {
           wrong.push(await page.text('#p', { timeout }).catch(String));
         }
         return [waits, wrong, await page.text('#p', { timeout: 0 }),
           await host.browser.open(base + '/silent', short).catch((error) => error.name)];",
        )
        .unwrap();
    for wait in seen[0].as_array().unwrap() {
        assert_eq!((&wait[1], &wait[2]), (&json!("Error"), &json!(true)), "{wait}");
    }
    let refused = "Refused: `timeout` must be a number of milliseconds";
    // JSON has no `NaN`: it is sent as `null`, which is no option.
    assert_eq!(seen[1], json!([refused, refused, "P", refused]));
    assert_eq!((&seen[2], &seen[3]), (&json!("P"), &json!("Error")));
}

#[test]
fn pop_ups_are_pages_and_dialogs_are_answered() {
    needs!(Chromium);
    let site = Site::serve(&[
        (
            "/",
            Answer::Page(
                "<a id=a href=/other target=_blank>other</a><p id=said></p>
                 <button id=ask onclick=\"said.textContent = [alert('a'), confirm('b'), prompt('c')].join()\">ask</button>"
                    .to_owned(),
            ),
        ),
        ("/other", Answer::Page("<title>Other</title>there".to_owned())),
    ]);
    let seen = Run::at(&site).on(
        &site,
        "await page.click('#ask'); const said = await page.text('#said'); await page.click('#a');
         const pages = await host.browser.pages(); const other = pages[1];
         await other.wait({ text: 'there' });
         const found = [said, pages.length, await other.title(), await page.title()];
         await other.close();
         return [...found, (await host.browser.pages()).length, await other.text().catch(String)];",
    );
    assert_eq!(seen, json!([",false,", 2, "Other", "", 1, "Error: the page is closed"]));
}

/// Pages and cookies stay for a run, not only for a call; another run has none of them.
#[test]
fn a_run_has_one_browser() {
    needs!(Chromium);
    let site = Site::serve(&[(
        "/",
        Answer::Raw(
            "HTTP/1.1 200 OK\r\nset-cookie: c=1; HttpOnly\r\ncontent-type: text/html\r\ncontent-length: 2\r\n\r\nhi"
                .to_owned(),
        ),
    )]);
    let run = Run::at(&site);
    let open = format!("const page = await host.browser.open('{}/'); return page.id", site.base());
    let again = "const [page] = await host.browser.pages(); return [page.id, await page.text(), await page.cookies()]";
    let mut tools = run.tools(&["browser"], &[("open", &open), ("again", again)]);
    assert_eq!(tools.call_tool("open", &json!({}), &json!({})).unwrap(), json!(1));
    let seen = tools.call_tool("again", &json!({}), &json!({})).unwrap();
    assert_eq!((&seen[0], &seen[1]), (&json!(1), &json!("hi")));
    assert_eq!(
        (&seen[2][0]["name"], &seen[2][0]["value"], &seen[2][0]["httpOnly"]),
        (&json!("c"), &json!("1"), &json!(true))
    );
    // Cookies know no port: another run would find it here, too.
    let other = Site::page("none");
    assert_eq!(Run::at(&other).on(&other, "return await page.cookies()"), json!([]));
}
