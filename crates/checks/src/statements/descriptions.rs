//! Descriptions of skills, which are all that an agent chooses by.

use std::collections::BTreeMap;
use std::path::Path;

use brief_dialects::{Moment, State};
use brief_syntax::render::path_below;
use brief_syntax::{Diagnostic, Root, Span, rules};

use brief_engine::Catalog;

/// Reports skills whose descriptions tell an agent nothing, or the same as another's.
pub(super) fn check_descriptions(catalog: &Catalog, root: &Root) -> Vec<Diagnostic> {
    let moment = Moment { root: root.clone(), ..Moment::default() };
    let listed = catalog.collect_candidates(&moment);
    let mut found = Vec::new();
    let mut known: BTreeMap<String, &Path> = BTreeMap::new();
    let sources = catalog.skill_sources();
    for applied in &listed.items {
        let item = &applied.item;
        let Some(source) =
            sources.get(item.path).filter(|_| item.kind == "skill" && item.state == State::Listed)
        else {
            continue;
        };
        // Without a `description`, a reader takes words of the body; that it is missing is another rule's finding.
        let Some(at) = find_description(source.text()) else { continue };
        let name = item.name.to_string();
        let problem = match find_vagueness(&name, item.description) {
            Some(problem) => problem.to_owned(),
            None => {
                let words = item.description.to_lowercase();
                match known.get(&words).filter(|other| other.file_name() == item.path.file_name()) {
                    Some(other) if is_another(other, item.path) => {
                        format!("is the same as that of `{}`", path_below(root.path(), other))
                    }
                    _ => {
                        known.entry(words).or_insert(item.path);
                        continue;
                    }
                }
            }
        };
        let line = source.text()[at..].lines().next().unwrap_or_default();
        let span = Span::new(at, at + line.trim_end().len());
        let message =
            format!("agents cannot tell when to use the skill `{name}`: its description {problem}");
        let help = "say what the skill does and when to use it";
        found.push(
            Diagnostic::new(rules::guidance::VAGUE_DESCRIPTION, source, span, message)
                .with_help(help),
        );
    }
    found
}

/// Returns the offset of the field `description` in the front matter of a text.
fn find_description(text: &str) -> Option<usize> {
    let header = &text[..text.strip_prefix("---")?.find("\n---").map_or(text.len(), |end| end + 3)];
    header.find("\ndescription:").map(|at| at + 1)
}

/// Copies of one skill for several clients have directories of the same name.
fn is_another(one: &Path, other: &Path) -> bool {
    let name = |path: &Path| path.parent().and_then(Path::file_name).map(std::ffi::OsStr::to_owned);
    name(one) != name(other)
}

/// Returns the reason why a description cannot trigger a skill.
pub(super) fn find_vagueness(name: &str, description: &str) -> Option<&'static str> {
    let lower = description.trim().to_lowercase();
    let letters =
        |text: &str| text.chars().filter(|letter| letter.is_alphanumeric()).collect::<String>();
    let filler =
        ["todo", "tbd", "description", "fixme", "xxx", "placeholder", "lorem", "n/a", "none"];
    let first =
        lower.split(|letter: char| !letter.is_alphanumeric()).find(|word| !word.is_empty())?;
    if filler.contains(&first) && lower.split_whitespace().count() <= 6
        || ["description here", "your description", "a description of", "skill description"]
            .iter()
            .any(|word| lower.contains(word))
    {
        return Some("is a placeholder");
    }
    let plain = ["a ", "the ", "this ", "skill for ", "skill", "agent"];
    let said = plain.iter().fold(lower.clone(), |text, word| text.replace(word, ""));
    if letters(&said) == letters(&name.to_lowercase()) {
        return Some("repeats the name");
    }
    (lower.split_whitespace().count() < 3 && lower.is_ascii())
        .then_some("has fewer than three words")
}
