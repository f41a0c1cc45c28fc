//! The texts of a project, each passed to all checks that read sentences.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use brief_dialects::GuidanceText;
use brief_engine::Catalog;
use brief_syntax::markdown::Prose;
use brief_syntax::{Diagnostic, Root, Source, rules};
use brief_system::System;

use crate::audience::Audience;
use crate::references::{ProjectHistory, ReferenceCheck, StaleReference, trace_references};
use crate::statements::ProjectDemands;

/// A text of the project, read.
pub(crate) struct ReadText<'t> {
    pub(crate) text: GuidanceText<'t>,
    /// Its file, with links followed.
    pub(crate) real: &'t Path,
    pub(crate) prose: Prose,
}

/// Passes each text of the project to `tell`, with its sentences.
pub(crate) fn each_prose(
    catalog: &Catalog,
    system: &dyn System,
    tell: &mut dyn FnMut(&ReadText<'_>),
) {
    // One file may hold many texts.
    let mut last: Option<(Arc<Source>, PathBuf)> = None;
    catalog.each_text(&mut |text| {
        let (_, real) = match last.take() {
            Some(known) if Arc::ptr_eq(&known.0, text.source) => last.insert(known),
            _ => {
                let path = text.source.path();
                let real = system.resolve(path).map(|real| real.path);
                let real = real.unwrap_or_else(|_| path.to_owned());
                last.insert((Arc::clone(text.source), real))
            }
        };
        let prose = Prose::parse(text.body());
        tell(&ReadText { text, real, prose });
    });
}

/// Returns the problems of what the texts of the project say against each other, and what they name that it does not
/// have; for a catalog that was read with [`Catalog::whole`].
pub(crate) fn check_texts(
    catalog: &Catalog,
    system: &dyn System,
    root: &Root,
    history: Option<&dyn ProjectHistory>,
) -> (Vec<Diagnostic>, Vec<StaleReference>) {
    let Some(files) = catalog.files() else { return (Vec::new(), Vec::new()) };
    let mut references = ReferenceCheck::new(system, root, files);
    let mut texts = ProjectDemands::default();
    let mut found = Vec::new();
    let mut conflicts = Vec::new();
    each_prose(catalog, system, &mut |text| {
        conflicts.extend(find_merge_conflicts(text));
        found.extend(references.check_text(text));
        texts.add_text(text, Audience::from_text(&text.text, root.path(), files));
    });
    let found = trace_references(catalog, system, root, &references, found, history);
    conflicts.extend(texts.check_demands(catalog, system, root));
    (conflicts, found)
}

/// Reports merge conflicts that nobody has resolved. A line of `=` alone underlines a heading, so that all three markers
/// are needed, in order.
fn find_merge_conflicts(read: &ReadText<'_>) -> Vec<Diagnostic> {
    let body = read.text.body();
    if !body.contains(">>>>>>> ") {
        return Vec::new();
    }
    let mut found = Vec::new();
    let mut conflict = None;
    let mut start = 0;
    for line in body.split_inclusive('\n') {
        let marker = line.trim_end();
        if let Some(side) = marker.strip_prefix("<<<<<<< ") {
            conflict = Some((start, start + marker.len(), side, false));
        } else if marker == "=======" {
            conflict = conflict.map(|(start, end, side, _)| (start, end, side, true));
        } else if let Some(other) = marker.strip_prefix(">>>>>>> ")
            && let Some((start, end, side, true)) = conflict.take()
            && !is_in_code(&read.prose, start)
        {
            let span = read.text.source_span(start, end);
            let message = format!(
                "agents read both sides of an unresolved merge conflict: `{side}` and `{other}`"
            );
            found.push(
                Diagnostic::new(rules::text::MERGE_CONFLICT, read.text.source, span, message)
                    .with_help("keep one side, or join both, and delete the three markers"),
            );
        }
        start += line.len();
    }
    found
}

/// Returns whether a place of a text lies in a code block.
fn is_in_code(prose: &Prose, offset: usize) -> bool {
    let mut blocks = prose.sections.iter().flat_map(|section| &section.blocks);
    blocks.any(|block| block.content.range().contains(&offset))
}
