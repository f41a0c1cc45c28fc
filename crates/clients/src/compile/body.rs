//! The body of an output: heading, links, layout.

use std::borrow::Cow;

use brief_dialects::portable::links::{LinkTarget, file_links};
use brief_dialects::portable::{ItemKind, PortableItem};
use brief_syntax::markdown::format_markdown;
use brief_syntax::{Diagnostic, Span, rules};

use crate::profile::{FirstHeading, Layout};

use super::ItemCompiler;
use super::fields::has_override;

/// The directories of an output and of the files beside its item, below the output directory.
pub(super) struct OutputDirs<'p> {
    pub(super) path: &'p str,
    pub(super) directory: &'p str,
    pub(super) files: &'p str,
}

/// A cache of formatted bodies. Most clients get the same body, and formatting costs far more than everything
/// else.
#[derive(Default)]
pub(super) struct Bodies {
    known: Vec<(String, String)>,
}

impl ItemCompiler<'_> {
    /// Returns everything after the front matter's closing line.
    pub(super) fn render_body(
        &self,
        layout: &Layout,
        place: &OutputDirs<'_>,
        bodies: &mut Bodies,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> String {
        let client = self.profile.id();
        let body = self.item.body_for(client, self.clients);
        if self.item.is_foreign() && !has_override(self.item, client) {
            return rewrite_links(&body, self.item, place).into_owned();
        }
        let body = match self.item.kind() {
            ItemKind::Command if !has_override(self.item, client) => {
                self.with_arguments(&body, &layout.arguments, diagnostics)
            }
            _ => body,
        };
        let body = rewrite_links(&body, self.item, place);
        if self.item.is_verbatim() {
            // The choice of blocks drops the blank line below the header, which is the author's.
            let own = self.item.document().body();
            let blank = &own[..own.len() - own.trim_start_matches(['\n', '\r']).len()];
            if has_override(self.item, client) || body.starts_with(blank) {
                return body.into_owned();
            }
            return format!("{blank}{body}");
        }
        // A command is what its user says, without a title.
        let mut text = match self.options.first_heading {
            _ if self.item.kind() == ItemKind::Command => String::new(),
            FirstHeading::Name => format!("# {}\n\n", self.item.name()),
            FirstHeading::Never => String::new(),
        };
        // The front matter has our line ends, so the body gets them too.
        text.push_str(&body.trim_matches(['\n', '\r', '\u{feff}']).replace("\r\n", "\n"));
        if let Some((_, known)) = bodies.known.iter().find(|(given, _)| *given == text) {
            return known.clone();
        }
        let formatted = format_markdown(&text);
        if let Some(reason) = formatted.refused {
            let message = format!("cannot change the layout of the body: {reason}");
            diagnostics.push(
                self.item_warning(rules::item::NOT_FORMATTED, Span::default(), message)
                    .with_help("simplify this part; line numbers refer to the body of the output"),
            );
        }
        let laid_out = match formatted.text.trim_end() {
            "" => String::new(),
            text => format!("\n{text}\n"),
        };
        bodies.known.push((text, laid_out.clone()));
        laid_out
    }
}

/// Rewrites relative links for the directory of the output.
///
/// A link to a file that the item does not have stays as it is: it was broken before.
fn rewrite_links<'b>(body: &'b str, item: &PortableItem, place: &OutputDirs<'_>) -> Cow<'b, str> {
    if place.files == place.directory && place.path.ends_with(item.kind().entrypoint()) {
        return Cow::Borrowed(body);
    }
    let mut output = String::new();
    let mut copied = 0;
    for link in file_links(body) {
        let LinkTarget::Inside(inside) = &link.target else { continue };
        let Some(target) = target_of(inside, item, place) else { continue };
        let written = &body[link.span.range()];
        let ending = written.find(['#', '?']).map_or("", |at| &written[at..]);
        output.push_str(&body[copied..link.span.start]);
        output.push_str(&encode_path(&relative_link_path(place.directory, &target)));
        output.push_str(ending);
        copied = link.span.end;
    }
    if copied == 0 {
        return Cow::Borrowed(body);
    }
    output.push_str(&body[copied..]);
    Cow::Owned(output)
}

/// Returns the path of an item's file below the output directory.
fn target_of(inside: &str, item: &PortableItem, place: &OutputDirs<'_>) -> Option<String> {
    if inside == item.kind().entrypoint() {
        return Some(place.path.to_owned());
    }
    let is_there = item.files().iter().any(|file| {
        inside.is_empty()
            || file.path == inside
            || file.path.strip_prefix(inside).is_some_and(|rest| rest.starts_with('/'))
    });
    match inside {
        _ if !is_there => None,
        "" => Some(place.files.to_owned()),
        inside => Some(format!("{}/{inside}", place.files)),
    }
}

/// Returns the relative path from a directory to a path; both are below the same root.
pub(super) fn relative_link_path(directory: &str, path: &str) -> String {
    let from: Vec<&str> = directory.split('/').filter(|name| !name.is_empty()).collect();
    let to: Vec<&str> = path.split('/').collect();
    let shared = from.iter().zip(&to).take_while(|(left, right)| left == right).count();
    let up = std::iter::repeat_n("..", from.len() - shared);
    let way: Vec<&str> = up.chain(to[shared..].iter().copied()).collect();
    if way.is_empty() { ".".to_owned() } else { way.join("/") }
}

/// Encodes a path as the destination of a link, in angle brackets or not.
fn encode_path(path: &str) -> String {
    let mut output = String::with_capacity(path.len());
    for character in path.chars() {
        let is_special = character.is_whitespace()
            || character.is_control()
            || "()<>[]%#?\\&*`\"'".contains(character);
        if is_special {
            let mut bytes = [0; 4];
            for byte in character.encode_utf8(&mut bytes).bytes() {
                output.push_str(&format!("%{byte:02X}"));
            }
        } else {
            output.push(character);
        }
    }
    output
}
