//! Pictures, documents and downloads.

use brief_testkit::needs;
use serde_json::json;

use super::Run;
use super::site::{Answer, Site};

fn attachment(name: &str, body: &str) -> Answer {
    Answer::Raw(format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/octet-stream\r\ncontent-disposition: attachment; \
         filename=\"{name}\"\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    ))
}

fn site() -> Site {
    Site::serve(&[
        (
            "/",
            Answer::Page(
                "<a id=report href=/report>r</a><a id=climb href=/climb>c</a><a id=secret href=/secret>s</a>
                 <a id=page href=/>p</a><h1 id=h>Title</h1>"
                    .to_owned(),
            ),
        ),
        ("/report", attachment("report.csv", "a,b\n1,2\n")),
        ("/climb", attachment("../../climbed.txt", "climbed")),
        ("/secret", attachment("server.key", "k")),
    ])
}

#[test]
fn pictures_and_documents_go_to_the_caller_or_into_the_project() {
    needs!(Chromium);
    let site = site();
    let run = Run::at(&site);
    let seen = run
        .try_on(
            &["browser", "fs"],
            &site,
            "const [picture, document] = [await page.screenshot(), await page.pdf()];
             return [picture.slice(0, 10), document.slice(0, 6), await page.screenshot({ path: 'out/a.png', full: true }),
               await page.screenshot({ path: 'out/h.png', selector: '#h' }), await page.pdf({ path: 'out/a.pdf' }),
               await page.screenshot({ path: '../a.png' }).catch((error) => error.name),
               await page.screenshot({ path: '.git/a.png' }).catch((error) => error.name)];",
        )
        .unwrap();
    assert_eq!((&seen[0], &seen[1]), (&json!("iVBORw0KGg"), &json!("JVBERi")));
    let (page, heading) = (
        std::fs::read(run.path("out/a.png")).unwrap(),
        std::fs::read(run.path("out/h.png")).unwrap(),
    );
    assert!(page.starts_with(b"\x89PNG\r\n\x1a\n") && heading.starts_with(b"\x89PNG"));
    let height = |png: &[u8]| u32::from_be_bytes(png[20..24].try_into().unwrap());
    assert!(height(&heading) < height(&page), "{} {}", height(&heading), height(&page));
    assert!(std::fs::read(run.path("out/a.pdf")).unwrap().starts_with(b"%PDF-"));
    assert_eq!(seen[2], json!({"path": "out/a.png", "bytes": page.len()}));
    assert_eq!((&seen[5], &seen[6]), (&json!("Refused"), &json!("Refused")));
    // The caller needs no grant for files, a path does.
    let error =
        run.error(&site, "await page.screenshot(); await page.screenshot({ path: 'b.png' })");
    assert!(error.starts_with("Refused: writing a file also requires `fs`"), "{error}");
    assert!(!run.path("b.png").exists());
}

#[test]
fn downloads_only_go_to_a_granted_directory() {
    needs!(Chromium);
    let site = site();
    let run = Run::at(&site);
    let refused = "Refused: is a download: use `page.download`";
    let seen = run.on(
        &site,
        "return [await host.browser.open(base + '/report').catch(String), await page.click('#report').catch(String),
           await page.download('#report', 'in').catch(String), await page.text('#h')];",
    );
    let ungranted = "Refused: writing a file also requires `fs`";
    assert_eq!(seen, json!([refused, refused, ungranted, "Title"]));
    let seen = run
        .try_on(
            &["browser", "fs"],
            &site,
            "const tries = [];
             for (const [selector, directory] of [['#report', 'in/deep'], ['#report', 'in/deep'], ['#climb', 'in'],
               ['#secret', 'in'], ['#report', '../out'], ['#report', '/tmp'], ['#report', '.git']]) {
               tries.push(await page.download(selector, directory).catch(String));
             }
             return tries;",
        )
        .unwrap();
    assert_eq!(seen[0], json!({"path": "in/deep/report.csv", "bytes": 8}));
    assert_eq!(std::fs::read_to_string(run.path("in/deep/report.csv")).unwrap(), "a,b\n1,2\n");
    for (place, part) in [
        (1, "already exists"),
        (3, "may hold secrets"),
        (4, "is outside the project"),
        (5, "must be relative"),
        (6, "is inside `.git`"),
    ] {
        assert!(seen[place].as_str().is_some_and(|said| said.contains(part)), "{place}: {seen}");
    }
    // Chromium may offer `.._.._climbed.txt` for it; wherever it is, it is in the directory.
    let path = seen[2]["path"].as_str().unwrap_or_else(|| panic!("{seen}"));
    assert!(path.starts_with("in/") && path.matches('/').count() == 1, "{path}");
    assert_eq!(std::fs::read_to_string(run.path(path)).unwrap(), "climbed");
    assert!(!run.directory.path().join("climbed.txt").exists());
}

#[test]
fn a_click_without_a_download_is_an_error() {
    needs!(Chromium);
    let site = site();
    let run = Run::at(&site);
    let body = "await page.download('#h', 'in', { timeout: 700 })";
    let error = run.try_on(&["browser", "fs"], &site, body).unwrap_err();
    assert!(error.to_string().starts_with("the page offers no download"), "{error}");
}
