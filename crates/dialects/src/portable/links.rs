//! Links from a body to files in the item's directory (§5.4 of the document).

use brief_syntax::Span;
use brief_syntax::markdown::{Link, collect_links, decoded_destination, html_links};

use super::guidance::is_in;
use super::model::PortableItem;

/// A link to a file of the item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileLink {
    pub span: Span,
    /// The target below the item's directory, without query and fragment.
    pub target: LinkTarget,
}

/// The target of a relative link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LinkTarget {
    /// A path in the item.
    Inside(String),
    /// A path outside the item.
    Outside,
}

/// Returns the relative links of a body, in order, also those of its HTML.
pub fn file_links(body: &str) -> Vec<FileLink> {
    let mut all = collect_links(body);
    all.extend(html_links(body));
    all.sort_by_key(|link| link.span);
    all.into_iter()
        .filter_map(|Link { destination, span }| {
            let path = destination.split(['#', '?']).next().unwrap_or_default();
            let is_address = path.is_empty()
                || path.contains("://")
                || path.starts_with(['/', '#', '<'])
                || has_scheme(path);
            (!is_address).then(|| FileLink { span, target: parse_link_target(path) })
        })
        .collect()
}

/// Returns whether a link has a scheme such as `mailto:`; one letter and a colon is a Windows
/// drive.
fn has_scheme(path: &str) -> bool {
    path.split_once(':').is_some_and(|(scheme, _)| {
        scheme.len() > 1 && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
    })
}

fn parse_link_target(path: &str) -> LinkTarget {
    let path = decoded_destination(path);
    let mut names: Vec<&str> = Vec::new();
    for name in path.split('/') {
        match name {
            ".." if names.pop().is_none() => return LinkTarget::Outside,
            "" | "." | ".." => {}
            name => names.push(name),
        }
    }
    LinkTarget::Inside(names.join("/"))
}

/// Returns whether a path is a file of the item, or a directory with such files.
pub(super) fn item_contains_path(item: &PortableItem, path: &str) -> bool {
    path.is_empty()
        || path == item.kind().entrypoint()
        || item.files().iter().any(|file| is_in(path, &file.path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_links_lead_into_the_item_or_out_of_it() {
        let body = "[a](./a.txt) ![b](img/b%20c.png#x) [c](https://x.example) [d](#top) [e](../e.md) \
                    [f](mailto:a@b.example) [g](x/../g.md) [h]\n\n[h]: ref.md\n";
        let targets: Vec<LinkTarget> =
            file_links(body).into_iter().map(|link| link.target).collect();
        let inside = |path: &str| LinkTarget::Inside(path.to_owned());
        assert_eq!(
            targets,
            [
                inside("a.txt"),
                inside("img/b c.png"),
                LinkTarget::Outside,
                inside("g.md"),
                inside("ref.md")
            ]
        );
    }
}
