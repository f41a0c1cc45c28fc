//! The implementation of [`Dialect`] for this format.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use brief_syntax::{Diagnostic, Source};
use brief_system::{Dir, System};

use crate::answer::{self, Applied, Item, LeftOut, Level, Name, Owner, Reason, Resolution};
use crate::moment::Moment;
use crate::rule_check::RuleCheck;
use crate::{Dialect, DialectGuidance, Reader, TextDescription};

use super::parse::{ContextFormat, parse_hosted_file};
use super::resolve::resolve_query;
use super::whole::HostedDirectories;
use super::{HostedContext, HostedScope, NAME, Query};

/// The dialect of `.context` directories.
#[derive(Debug, Clone, Copy)]
pub struct Hosted;

impl Dialect for Hosted {
    fn name(&self) -> &'static str {
        NAME
    }

    fn summary(&self) -> &'static str {
        "`.context` directories"
    }

    fn noun(&self) -> &'static str {
        ".context files"
    }

    fn is_for_everybody(&self) -> bool {
        true
    }

    fn is_shipped(&self, below: &str) -> bool {
        below.starts_with(".context/") && ContextFormat::from_file_name(file_name(below)).is_some()
    }

    fn describe_file(&self, below: &str, source: &Arc<Source>) -> Option<TextDescription> {
        below.starts_with(".context/").then(|| {
            let format =
                ContextFormat::from_file_name(file_name(below)).unwrap_or(ContextFormat::Text);
            let (file, _) = parse_hosted_file(source, format);
            TextDescription {
                is_disabled: file.disabled,
                body_start: file.body_start,
                description: file.description,
            }
        })
    }

    fn whole_reader(&self) -> Option<Box<dyn Reader>> {
        Some(Box::new(HostedDirectories::default()))
    }

    fn read_guidance(
        &self,
        system: &dyn System,
        moment: &Moment,
        top: Option<&dyn Dir>,
    ) -> Option<Box<dyn DialectGuidance>> {
        let Moment { path, mentions, .. } = moment;
        let query = Query { mounted: moment.mounted_path(), path, mentions };
        Some(Box::new(PathContext(resolve_query(system, &query, moment.hosted, top))))
    }
}

/// The answer for one path.
struct PathContext(HostedContext);

impl DialectGuidance for PathContext {
    /// The question was answered when the files were read; this dialect ignores action and timing.
    fn resolve_items<'s>(&'s self, _: &Moment, answer: &mut Resolution<'s>) {
        let PathContext(resolution) = self;
        answer
            .items
            .extend(resolution.items.iter().map(|item| build_applied_item(item, resolution)));
        let out = resolution.left_out.iter().map(|out| left_out(out, resolution));
        answer.left_out.extend(out);
        answer.hosted = Some(resolution);
    }

    fn visit_checks<'s>(&'s self, tell: &mut dyn FnMut(&'s Arc<RuleCheck>)) {
        self.0.items.iter().filter_map(|item| item.check.as_ref()).for_each(tell);
    }

    fn diagnostics(&self) -> &[Diagnostic] {
        &self.0.diagnostics
    }

    fn file_count(&self) -> usize {
        self.0.items.len() + self.0.left_out.len()
    }
}

/// Returns the level: the user's files first, then by the directory of the file. An included file
/// has the level of the working directory.
pub(super) fn file_level(path: &Path, scope: HostedScope, place: &HostedContext) -> Level {
    let (mounted, working) = place.depths;
    let depth = match scope {
        HostedScope::Global => return Level::of_user(false),
        HostedScope::Mounted => mounted,
        HostedScope::Working | HostedScope::Include => working,
        HostedScope::Ancestor => {
            let shared = place.working.components().zip(path.components());
            let shared = shared.take_while(|(here, there)| here == there);
            answer::directory_depth(&shared.map(|(here, _)| here).collect::<PathBuf>())
        }
    };
    Level { owner: Owner::Project, depth, is_scoped: false }
}

pub(super) fn build_applied_item<'s>(
    item: &'s super::HostedItem,
    place: &HostedContext,
) -> Applied<'s> {
    Applied::new(
        Item {
            dialect: NAME,
            kind: "context",
            name: Name::Text(&item.name),
            path: item.path(),
            line: item.line,
            scope: item.scope.as_str(),
            trigger: Some(item.file.trigger.as_str()),
            holds: false,
            check: item.check.as_ref(),
            is_for_after: false,
            state: item.state,
            content: item.content(),
            description: &item.file.description,
            patterns: &[],
            level: file_level(item.path(), item.scope, place),
            package: None,
        },
        Reason::Stated(&item.reason),
    )
}

pub(super) fn left_out<'s>(left_out: &'s super::OmittedFile, place: &HostedContext) -> LeftOut<'s> {
    let name = left_out.path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    LeftOut {
        dialect: NAME,
        kind: "context",
        name: Name::Text(name),
        path: &left_out.path,
        line: 1,
        content: "",
        level: file_level(&left_out.path, left_out.scope, place),
        reason: Reason::Stated(&left_out.reason),
    }
}

fn file_name(slashed: &str) -> &str {
    slashed.rsplit('/').next().unwrap_or(slashed)
}
