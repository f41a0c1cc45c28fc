//! The formatter for the files of a registry: front matter, with its comments and order, and body.

use std::sync::Arc;

use brief_syntax::Source;
use brief_syntax::markdown::{self, FormatRefusal};
use brief_syntax::yaml::format_header;

use super::model::{Bundle, ItemDocument, PortableItem};
use super::registry::Registry;

#[derive(Debug)]
pub struct FormattedFile {
    pub source: Arc<Source>,
    pub text: String,
    /// The reason why the body was not formatted.
    pub refused: Option<FormatRefusal>,
}

impl FormattedFile {
    /// Returns whether the file is already formatted.
    pub fn is_unchanged(&self) -> bool {
        self.source.text() == self.text
    }
}

/// Formats every file of a registry. Foreign skills and files that are not text are left alone.
pub fn format_registry(registry: &Registry) -> Vec<FormattedFile> {
    let items = registry.items.iter().filter(|item| !item.is_foreign()).flat_map(format_item);
    let bundles = registry.bundles.iter().filter_map(format_bundle);
    items.chain(bundles).filter(|file| is_text(&file.source)).collect()
}

fn is_text(source: &Source) -> bool {
    source.encoding() == brief_syntax::source::Encoding::Utf8
}

fn format_item(item: &PortableItem) -> Vec<FormattedFile> {
    let overrides = item.overrides().iter().map(|own| {
        let markdown::Formatted { text, refused } = markdown::format_markdown(own.source.text());
        FormattedFile { source: Arc::clone(&own.source), text, refused }
    });
    format_entrypoint(item.document()).into_iter().chain(overrides).collect()
}

/// A bundle in YAML alone has no body to format.
fn format_bundle(bundle: &Bundle) -> Option<FormattedFile> {
    let is_markdown = bundle.slashed().strip_suffix(".md").is_some();
    is_markdown.then(|| format_entrypoint(bundle.document())).flatten()
}

/// A file without front matter is broken and stays as it is for its author.
fn format_entrypoint(document: &ItemDocument) -> Option<FormattedFile> {
    document.fields()?;
    let header = format_header(document.header()?);
    let markdown::Formatted { text: body, refused } = markdown::format_markdown(body_of(document));
    let body = body.trim_start_matches('\n');
    let gap = if body.is_empty() { "" } else { "\n" };
    let text = format!("---\n{}\n---\n{gap}{body}", header.trim_end_matches('\n'));
    Some(FormattedFile { source: Arc::clone(document.source()), text, refused })
}

/// Returns the body without the blank line before it, which the formatter writes itself. With that
/// line, the fast check would recognize no file as formatted.
fn body_of(document: &ItemDocument) -> &str {
    document.body().trim_start_matches(['\n', '\r'])
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;

    /// U77: a formatted file is recognized without formatting it again.
    #[test]
    fn a_file_in_its_layout_takes_the_fast_way() {
        let text =
            "---\nschema: 1\nname: a\n---\n\n## Title\n\nText, and more of it.\n\n- one\n- two\n";
        let (document, _) = parse::parse_document(&Arc::new(Source::new("RULE.md", text)));
        assert!(markdown::is_laid_out(body_of(&document)));
        assert!(format_entrypoint(&document).is_some_and(|file| file.is_unchanged()));
    }
}
