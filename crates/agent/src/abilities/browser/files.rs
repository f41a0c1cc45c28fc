//! Files from a page: pictures, documents, downloads.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use brief_syntax::limits;
use serde_json::{Value, json};

use super::super::files::{Replacing, ToolFiles};
use super::super::{AbilityResult, create_failure, create_refusal};
use super::frames::FrameHandle;
use super::pages::PageCall;
use super::running::RunningBrowser;

/// The largest side of a picture; Chromium draws no larger ones.
const LARGEST: f64 = 16_000.0;

impl RunningBrowser {
    /// Takes a picture of the window, the whole page or an element.
    pub(super) fn take_screenshot(
        &mut self,
        frame: &FrameHandle,
        call: &PageCall<'_>,
    ) -> AbilityResult {
        let place = Destination::from_call(call)?;
        let session = frame.session.clone();
        let mut params = json!({"format": "png"});
        let clip = if let Some(selector) = call.option(0, "selector").and_then(Value::as_str) {
            let args = json!({"selector": selector});
            Some(self.read_frame(frame, "box", args, call.element_deadline())?)
        } else if call.option(0, "full") == Some(&json!(true)) {
            let sizes = self.send_request(
                Some(&session),
                "Page.getLayoutMetrics",
                &json!({}),
                call.deadline,
            )?;
            let size = &sizes["cssContentSize"];
            Some(json!({"x": 0, "y": 0, "width": size["width"], "height": size["height"]}))
        } else {
            None
        };
        if let Some(mut clip) = clip {
            for side in ["width", "height"] {
                let length = clip[side].as_f64().unwrap_or(1.0);
                clip[side] = json!(length.clamp(1.0, LARGEST));
            }
            clip["scale"] = json!(1);
            params["clip"] = clip;
            params["captureBeyondViewport"] = json!(true);
        }
        let taken =
            self.send_request(Some(&session), "Page.captureScreenshot", &params, call.deadline)?;
        place.deliver_data(&taken["data"])
    }

    pub(super) fn print_pdf(&mut self, session: &str, call: &PageCall<'_>) -> AbilityResult {
        let place = Destination::from_call(call)?;
        let params = json!({"printBackground": true, "preferCSSPageSize": true});
        let printed =
            self.send_request(Some(session), "Page.printToPDF", &params, call.deadline)?;
        place.deliver_data(&printed["data"])
    }

    /// Clicks an element and keeps the file that it offers.
    pub(super) fn keep_file(
        &mut self,
        page: u64,
        frame: &FrameHandle,
        call: &PageCall<'_>,
    ) -> AbilityResult {
        let files = granted_files(call)?;
        let directory = call.text_argument(1, "a directory of the project")?.trim_end_matches('/');
        super::super::files::check_path(directory)?;
        self.set_downloads(true, call.deadline)?;
        let outcome = self.fetch_download(page, frame, call);
        // Whatever has happened, no further file is wanted; a browser that has ended takes none.
        let refusing = call.deadline + Duration::from_secs(1);
        let _ = self.set_downloads(false, refusing);
        let (name, bytes) = outcome?;
        let path = if directory.is_empty() { name } else { format!("{directory}/{name}") };
        files.write_file(&path, &bytes, limits::BROWSER_FILE_BYTES, Replacing::Never)?;
        Ok(json!({"path": path, "bytes": bytes.len()}))
    }

    fn fetch_download(
        &mut self,
        page: u64,
        frame: &FrameHandle,
        call: &PageCall<'_>,
    ) -> AbilityResult<(String, Vec<u8>)> {
        self.press_mouse(page, frame, call)?;
        self.wait_for_echo(page, call.deadline)?;
        let most = limits::BROWSER_FILE_BYTES;
        let is_over = |browser: &RunningBrowser| {
            let download = browser.download.as_ref();
            download.is_some_and(|one| one.is_complete.is_some() || one.received > most)
        };
        let in_time = self.wait_until(call.deadline, is_over)?;
        let Some(download) = self.download.clone() else {
            let reasons = self.said_refusals();
            let message = reasons.unwrap_or_else(|| "the page offers no download".to_owned());
            return Err(create_failure(message));
        };
        if !in_time || download.received > most {
            self.cancel_download(&download.id, call.deadline);
        }
        match (in_time, download.is_complete) {
            (false, _) => {
                return Err(create_failure("the download took too long"));
            }
            (true, Some(true)) => {}
            (true, Some(false)) => {
                return Err(create_failure("the download was interrupted"));
            }
            (true, None) => {
                return Err(create_refusal(format!("the download has more than {most} bytes")));
            }
        }
        let file = self.launched.profile.path().join("downloads").join(&download.id);
        let system = &self.launched.wire.system;
        let bytes = system.read(&file, most);
        let _ = system.remove_file(&file);
        let bytes =
            bytes.map_err(|error| create_failure(format!("cannot read the download: {error}")))?;
        Ok((plain_name(&download.name), bytes))
    }
}

/// Returns the listed name without directories and without what hides a file.
fn plain_name(listed: &str) -> String {
    let last = listed.rsplit(['/', '\\']).next().unwrap_or_default();
    let kept: String =
        last.chars().filter(|letter| !letter.is_control() && *letter != ':').collect();
    let kept = kept.trim().trim_start_matches('.');
    if kept.is_empty() { "download".to_owned() } else { kept.to_owned() }
}

fn granted_files<'c>(call: &PageCall<'c>) -> AbilityResult<&'c ToolFiles> {
    call.context.files.ok_or_else(|| create_refusal("writing a file also requires `fs`"))
}

/// The receiver of a file: the tool, or a path of the project.
struct Destination<'c>(Option<(&'c ToolFiles, &'c str)>);

impl<'c> Destination<'c> {
    /// Checks the path before anything is done.
    fn from_call(call: &PageCall<'c>) -> AbilityResult<Destination<'c>> {
        let Some(path) = call.option(0, "path") else { return Ok(Destination(None)) };
        let path = path.as_str().ok_or_else(|| create_refusal("`path` must be a string"))?;
        super::super::files::check_path(path)?;
        Ok(Destination(Some((granted_files(call)?, path))))
    }

    fn deliver_data(&self, data: &Value) -> AbilityResult {
        let text = data.as_str().unwrap_or_default();
        let Some((files, path)) = self.0 else { return Ok(json!(text)) };
        let bytes = STANDARD
            .decode(text)
            .map_err(|error| create_failure(format!("the browser sent no file: {error}")))?;
        files.write_file(path, &bytes, limits::BROWSER_FILE_BYTES, Replacing::Files)?;
        Ok(json!({"path": path, "bytes": bytes.len()}))
    }
}

#[cfg(test)]
mod tests {
    use super::plain_name;

    #[test]
    fn an_offered_name_is_a_name_only() {
        for (listed, name) in [
            ("a.txt", "a.txt"),
            ("../../etc/passwd", "passwd"),
            ("..\\..\\x.bat", "x.bat"),
            (".env", "env"),
            ("..", "download"),
            ("a\u{0}b\n.txt", "ab.txt"),
            ("", "download"),
        ] {
            assert_eq!(plain_name(listed), name, "{listed:?}");
        }
    }
}
