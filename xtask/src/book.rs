//! The documentation as a site: the table of contents, the links, and the pages as mdBook wants them.
//!
//! Pages link to files beside `docs`, such as the changelog and the examples, and `mdbook` knows only what lies below one
//! directory. So `cargo xtask book` copies the pages and what they show to `target/book/src`, as they lie in the repository.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::process::Command;

use crate::{run_command, workspace_root};

/// The table of contents, which is also a page for readers of the repository.
pub(crate) const CONTENTS: &str = "docs/SUMMARY.md";

/// The list of schemas.
pub(crate) const SCHEMAS: &str = "docs/schemas/README.md";

/// The version of mdBook that the site was built with.
const MDBOOK: &str = "0.5.4";

/// The directories and files that the site has, as `git` takes them.
const PUBLISHED: [&str; 10] = [
    ":(glob)*.md",
    "LICENSE-*",
    "conformance/README.md",
    "conformance/agents/real-model.py",
    "conformance/portable/README.md",
    "crates/briefing/README.md",
    "crates/testkit/src/conformance.rs",
    "docs",
    "examples",
    "packaging",
];

/// The parts of the table of contents with their pages, relative to `docs`. A name that ends in `/` is every page below that directory which is
/// named nowhere else, by path.
const PARTS: [(&str, &[&str]); 8] = [
    (
        "Tutorials",
        &["tutorials/installing.md", "tutorials/first-steps.md", "tutorials/share-rules.md"],
    ),
    (
        "How to",
        &[
            "how-to/why-ignored.md",
            "how-to/scope-a-rule.md",
            "how-to/deliver-by-hook.md",
            "how-to/keep-a-rule.md",
            "how-to/deliver-by-mcp.md",
            "how-to/set-up-a-team.md",
            "how-to/check-in-ci.md",
            "how-to/review-changes.md",
            "how-to/cut-token-costs.md",
            "how-to/migrate.md",
            "how-to/import.md",
            "how-to/use-a-registry.md",
            "how-to/roll-out.md",
            "how-to/runbook.md",
            "how-to/use-packages.md",
            "how-to/prompts-in-ci.md",
            "how-to/run-agent-files.md",
            "how-to/editors.md",
            "how-to/view.md",
            "how-to/",
        ],
    ),
    ("Explanation", &["explanation/how-brief-decides.md", "explanation/"]),
    ("Reference", &["reference/cli.md", "reference/", "schemas/README.md"]),
    ("Clients", &["clients/README.md", "clients/"]),
    ("Diagnostics", &["reference/diagnostics.md", "diagnostics/"]),
    (
        "Examples",
        &[
            "../examples/shop/README.md",
            "../examples/ferry/README.md",
            "../examples/ferry/moments.md",
            "../crates/briefing/README.md",
        ],
    ),
    (
        "The project",
        &[
            "../CHANGELOG.md",
            "../SECURITY.md",
            "../CONTRIBUTING.md",
            "dev/",
            "../ARCHITECTURE.md",
            "../conformance/README.md",
            "../conformance/portable/README.md",
        ],
    ),
];

/// Directories whose pages have a line of their own in the table of contents, and are not folded below the page before them.
const UNFOLDED: [&str; 3] = ["how-to", "explanation", "reference"];

/// Returns the table of contents. Every page of `docs` is in it, or the error names those that are not.
pub(crate) fn render_contents() -> Result<String, String> {
    let docs = workspace_root().join("docs");
    let mut left: BTreeSet<String> = BTreeSet::new();
    collect_pages(&docs, "", &mut left)?;
    left.remove("SUMMARY.md");
    // Made from this list of pages, so it may not be there yet.
    left.insert("schemas/README.md".to_owned());
    let named: BTreeSet<&str> = PARTS.iter().flat_map(|(_, pages)| *pages).copied().collect();
    left.retain(|page| !named.contains(page.as_str()));
    let mut text = String::from(
        "# Contents\n\nMade by `cargo xtask generate`; `cargo xtask book` makes a site of it.\n\n[What it is](../README.md)\n",
    );
    for (title, pages) in PARTS {
        text.push_str(&format!("\n# {title}\n\n"));
        for page in pages {
            let Some(directory) = page.strip_suffix('/') else {
                text.push_str(&render_contents_entry(&docs, "", page)?);
                continue;
            };
            let below: Vec<String> = left
                .iter()
                .filter(|path| Path::new(path).starts_with(directory))
                .cloned()
                .collect();
            for path in below {
                left.remove(&path);
                let indent = if UNFOLDED.contains(&directory) { "" } else { "  " };
                text.push_str(&render_contents_entry(&docs, indent, &path)?);
            }
        }
    }
    if left.is_empty() {
        Ok(text)
    } else {
        Err(format!("in no part of xtask/src/book.rs: {left:?}"))
    }
}

fn render_contents_entry(docs: &Path, indent: &str, page: &str) -> Result<String, String> {
    if page == "schemas/README.md" {
        return Ok(format!("{indent}- [Schemas]({page})\n"));
    }
    let text = fs::read_to_string(docs.join(page)).map_err(|error| format!("{page}: {error}"))?;
    let title = text.lines().find_map(|line| line.strip_prefix("# "));
    let title = title.ok_or_else(|| format!("{page} has no title"))?;
    Ok(format!("{indent}- [{title}]({page})\n"))
}

fn collect_pages(docs: &Path, below: &str, pages: &mut BTreeSet<String>) -> Result<(), String> {
    let entries = fs::read_dir(docs.join(below)).map_err(|error| format!("{below}: {error}"))?;
    for entry in entries {
        let entry = entry.map_err(|error| error.to_string())?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if below.is_empty() { name } else { format!("{below}/{name}") };
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            collect_pages(docs, &path, pages)?;
        } else if is_page(Path::new(&path)) {
            pages.insert(path);
        }
    }
    Ok(())
}

fn is_page(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "md")
}

/// Returns the page about the schemas: the file, what it is for, and what it says of itself.
pub(crate) fn render_schemas_page() -> Result<String, String> {
    let mut text = String::from(
        "# Schemas\n\nJSON Schemas of what `--json` prints, named after `kind`, and of the files that people write \
         (`brief schema KIND` prints these). Made by `cargo xtask generate`.\n\n| schema | of | |\n| --- | --- | --- |\n",
    );
    for directory in ["", "files/"] {
        let path = workspace_root().join("docs/schemas").join(directory);
        let entries = fs::read_dir(path).map_err(|error| error.to_string())?;
        let mut files: Vec<PathBuf> =
            entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
        files.retain(|file| file.extension().is_some_and(|extension| extension == "json"));
        files.sort();
        for file in files {
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            let schema = fs::read(&file).map_err(|error| format!("{name}: {error}"))?;
            let schema: serde_json::Value =
                serde_json::from_slice(&schema).map_err(|error| format!("{name}: {error}"))?;
            let field = |key: &str| schema[key].as_str().unwrap_or_default().replace('|', "\\|");
            let (title, about) = (field("title"), field("description"));
            text.push_str(&format!(
                "| [`{directory}{name}`]({directory}{name}) | {title} | {about} |\n"
            ));
        }
    }
    Ok(text)
}

/// Builds the site in `target/book/html`, unless a link leads nowhere.
pub(crate) fn build_site() -> Result<(), String> {
    let (words, pages) = count_words()?;
    println!("{} pages by hand, {words} words", pages.len());
    let dead = dead_links()?;
    if !dead.is_empty() {
        return Err(format!("links that lead nowhere:\n{}", dead.join("\n")));
    }
    let book = workspace_root().join("target").join("book");
    let source = book.join("src");
    if source.exists() {
        fs::remove_dir_all(&source).map_err(|error| format!("{}: {error}", source.display()))?;
    }
    for path in list_published_files()? {
        // mdBook makes `index.html` of such a page, and leaves links to it alone.
        let renamed = path.to_string_lossy().replace("README.md", "index.md");
        let target = source.join(renamed);
        let copied = fs::create_dir_all(target.parent().unwrap_or(&source)).and_then(|()| {
            if !is_page(&path) {
                return fs::copy(workspace_root().join(&path), &target).map(drop);
            }
            let text = fs::read_to_string(workspace_root().join(&path))?;
            fs::write(&target, to_index(&text))
        });
        copied.map_err(|error| format!("{}: {error}", path.display()))?;
    }
    let write = |path: PathBuf, text: &str| {
        fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))
    };
    // The pages lie one directory deeper, and those beside them no longer above.
    let contents = render_contents()?.replace("](", "](docs/").replace("](docs/../", "](");
    write(source.join("SUMMARY.md"), &to_index(&contents))?;
    write(book.join("book.toml"), include_str!("../../docs/book.toml"))?;
    run_command(Command::new("mdbook").arg("build").arg(&book))
        .map_err(|error| format!("{error}; cargo install mdbook --version {MDBOOK} --locked"))
}

/// Leads links to a `README.md` to the page that the site makes of it.
fn to_index(text: &str) -> String {
    text.replace("README.md)", "index.md)").replace("README.md#", "index.md#")
}

/// Returns the files of the site, relative to the top of the repository.
fn list_published_files() -> Result<Vec<PathBuf>, String> {
    let mut git = Command::new("git");
    git.args(["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--"])
        .args(PUBLISHED);
    let output =
        git.current_dir(workspace_root()).output().map_err(|error| format!("git: {error}"))?;
    let names = String::from_utf8_lossy(&output.stdout).into_owned();
    let names = names.split('\0').filter(|name| !name.is_empty());
    let mut paths: Vec<PathBuf> = names.map(PathBuf::from).collect();
    paths.retain(|path| workspace_root().join(path).is_file());
    paths.sort();
    paths.dedup();
    Ok(paths)
}

/// Returns the links of the published pages that lead nowhere: to no file, or to no heading of a page.
fn dead_links() -> Result<Vec<String>, String> {
    let published = list_published_files()?;
    let mut texts = BTreeMap::new();
    for page in published.iter().filter(|path| is_page(path)) {
        let text = fs::read_to_string(workspace_root().join(page));
        texts.insert(page.clone(), text.map_err(|error| format!("{}: {error}", page.display()))?);
    }
    let headings: BTreeMap<&PathBuf, BTreeSet<String>> =
        texts.iter().map(|(page, text)| (page, collect_headings(text))).collect();
    let mut dead = Vec::new();
    for (page, text) in &texts {
        for link in collect_links(text) {
            if link.contains("://") || link.starts_with("mailto:") {
                continue;
            }
            let (path, heading) = link.split_once('#').unwrap_or((link, ""));
            let target = if path.is_empty() { page.clone() } else { resolve_link(page, path) };
            // A link out of what is published would be dead on the site.
            let is_there = published.iter().any(|path| path.starts_with(&target));
            let has_heading = heading.is_empty()
                || headings.get(&target).is_none_or(|known| known.contains(heading));
            if !is_there || !has_heading {
                dead.push(format!("{}: {link}", page.display()));
            }
        }
    }
    Ok(dead)
}

/// Returns a path relative to the directory of a page, without `..`.
fn resolve_link(page: &Path, path: &str) -> PathBuf {
    let mut target = page.parent().map(Path::to_owned).unwrap_or_default();
    for part in Path::new(path).components() {
        match part {
            Component::ParentDir => drop(target.pop()),
            Component::Normal(name) => target.push(name),
            _ => {}
        }
    }
    target
}

/// Returns the lines of a page outside of fences.
fn prose_lines(text: &str) -> impl Iterator<Item = &str> {
    let mut fence = None;
    text.lines().filter(move |line| {
        let line = line.trim_start();
        let length = line.len() - line.trim_start_matches('`').len();
        match fence {
            // What a page promises its test.
            None if line.starts_with("<!-- test:") => {}
            None if length >= 3 => fence = Some(length),
            Some(opened) if length >= opened && line.trim_end().len() == length => fence = None,
            None => return true,
            Some(_) => {}
        }
        false
    })
}

/// Returns the targets of the links of a page, those in code left out.
fn collect_links(text: &str) -> Vec<&str> {
    let mut links = Vec::new();
    for line in prose_lines(text) {
        let mut is_code = false;
        for (index, piece) in line.split('`').enumerate() {
            if index > 0 {
                is_code = !is_code;
            }
            // A link whose text ends in code begins right behind it.
            let pieces = piece.split("](").skip(1);
            if !is_code {
                links.extend(pieces.filter_map(|rest| Some(rest.split_once(')')?.0)));
            }
        }
    }
    links
}

/// Returns the names of the headings of a page, in the way of GitHub, and of its anchors.
fn collect_headings(text: &str) -> BTreeSet<String> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let titles = prose_lines(text).filter(|line| line.starts_with('#'));
    let names = titles.map(|line| {
        let title = line.trim_start_matches('#').trim().to_lowercase();
        let kept =
            title.chars().filter(|letter| letter.is_alphanumeric() || " -_".contains(*letter));
        let name: String = kept.map(|letter| if letter == ' ' { '-' } else { letter }).collect();
        let count = seen.entry(name.clone()).or_default();
        *count += 1;
        if *count == 1 { name } else { format!("{name}-{}", *count - 1) }
    });
    let anchors = prose_lines(text).flat_map(|line| line.split("<a id=\"").skip(1));
    let anchors = anchors.filter_map(|rest| Some(rest.split_once('"')?.0.to_owned()));
    names.chain(anchors).collect()
}

/// Directories and pages of `docs` that are generated, or for those who work on the project.
const NOT_BY_HAND: [&str; 8] = [
    "SUMMARY.md",
    "clients",
    "dev",
    "diagnostics",
    "reference/cli.md",
    "reference/diagnostics.md",
    "reference/limits.md",
    "schemas",
];

/// Returns how many words of `docs` people have written for users, tables and examples included, and the longest pages.
pub(crate) fn count_words() -> Result<(usize, Vec<(usize, String)>), String> {
    let docs = workspace_root().join("docs");
    let mut pages = BTreeSet::new();
    collect_pages(&docs, "", &mut pages)?;
    pages.retain(|page| !NOT_BY_HAND.iter().any(|name| Path::new(page).starts_with(name)));
    let mut counted = Vec::new();
    for page in pages {
        let text =
            fs::read_to_string(docs.join(&page)).map_err(|error| format!("{page}: {error}"))?;
        let lines = text.lines().filter(|line| !line.starts_with("<!-- test:"));
        let words = lines.flat_map(str::split_whitespace);
        let words = words.filter(|word| word.chars().any(char::is_alphanumeric)).count();
        counted.push((words, page));
    }
    counted.sort_unstable_by(|a, b| b.cmp(a));
    Ok((counted.iter().map(|(words, _)| words).sum(), counted))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documentation_stays_readable() {
        let (words, pages) = count_words().unwrap();
        assert!(
            words <= 42_000,
            "{words} words are written by hand; the longest pages: {:?}",
            &pages[..8]
        );
    }

    #[test]
    fn links_of_pages_lead_somewhere() {
        assert_eq!(dead_links().unwrap(), [""; 0]);
    }

    #[test]
    fn links_are_found_outside_of_code() {
        let text = "[`a`](b.md), `[c](d.md)` ![e](f.png)\n\n```md\n[g](h.md)\n```\n";
        assert_eq!(collect_links(text), ["b.md", "f.png"]);
    }

    #[test]
    fn headings_have_the_names_of_github() {
        let text = "# `brief.toml`\n## One, two\n## One, two\n";
        assert!(collect_headings(text).iter().eq(["brieftoml", "one-two", "one-two-1"]));
    }
}
