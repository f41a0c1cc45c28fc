//! The answer: the merge of the document, in its order.
//!
//! First every context directory is opened and listed, and its configuration is read. Then the
//! configurations are merged. Only then are files judged, by their names before they are opened: a
//! file that its name excludes is never read.

mod included;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use brief_syntax::source::Encoding;
use brief_syntax::{Diagnostic, Source, Span, diagnostic, limits, rules};
use brief_system::{Dir, DirEntry, FileKind, HeldDir, System, paths};

use crate::answer::{State, directory_depth};
use brief_safety::sensitive::{self, Leaf, Sensitive, Tier};

use super::config::{self, Layer};
use super::context_dir::{ContextCandidate, ContextDir, link_diagnostic, read_error_diagnostic};
use super::exclude::Excludes;
use crate::answer::Owner;
use crate::rule_check::{CheckCoverage, CheckScope, parse_header_check};

use super::model::{
    CONFIG_NAME, Config, ConfiguredServer, Flag, Globs, HostedFile, HostedItem, HostedScope,
    OmittedFile, Trigger,
};
use super::parse::{self, ContextFormat};
use super::pattern::HostedPattern;
use super::place::{
    HostedEnvironment, HostedPlace, expand_home, path_diagnostic, unreadable_diagnostic,
};
use super::sources::open_contexts;
use super::{ExtraNames, HostedContext, HostedOptions, Query};

/// The limit of reports about unsupported types for one directory or wildcard.
const MATCHES_LISTED: usize = 100;

const UNSUPPORTED: &str = "has an unsupported type: it is not .md, .mdc or .txt";

/// Reads the files that count for a question and answers it.
///
/// `top` is the mounted directory if it is held open already; its path has no links then.
pub(super) fn resolve_query(
    system: &dyn System,
    query: &Query<'_>,
    options: HostedOptions,
    top: Option<&dyn Dir>,
) -> HostedContext {
    let mut diagnostics = Vec::new();
    let environment = HostedEnvironment::from_system(system, &mut diagnostics);
    let (place, root) = HostedPlace::from_query(system, query, top, &mut diagnostics);
    let root = root.as_ref().map(HeldDir::get);
    let mut contexts = open_contexts(system, &place, root, &environment, &mut diagnostics);
    let layers: Vec<Layer> = contexts
        .iter()
        .filter_map(|context| {
            let file = context.read_config(&mut diagnostics)?;
            Some(Layer { file, scope: context.scope, owner: Arc::clone(&context.owner) })
        })
        .collect();
    let merged = config::merge_layers(&layers);
    diagnostics.extend(merged.diagnostics);
    let config = merged.config;
    warn_of_own_files(&config, &place, &contexts, &mut diagnostics);
    let excludes = Excludes::from_config(&config, system, &environment, &mut diagnostics);
    let mut judge = Judge {
        options,
        query,
        place: &place,
        environment: &environment,
        config: &config,
        excludes,
        seen: BTreeSet::new(),
        items: Vec::new(),
        left_out: Vec::new(),
        diagnostics,
        unsupported: 0,
        count: ReadCount::default(),
        is_full: false,
        context_roots: contexts.iter().map(|context| context.path.clone()).collect(),
        unmatched: BTreeSet::new(),
    };
    let roots = judge.context_roots.clone();
    for context in contexts.drain(..) {
        judge.start_counting();
        context.walk_entries(&roots, &mut judge);
        judge.sum_up(&context.path);
    }
    judge.add_included_files(system, root);
    let Judge { items, left_out, mut diagnostics, unmatched, .. } = judge;
    diagnostic::sort_diagnostics(&mut diagnostics);
    diagnostics.dedup();
    let HostedPlace { mounted, working, .. } = place;
    let mcp_servers: Vec<ConfiguredServer> = merged.servers;
    let depths = (directory_depth(&mounted), directory_depth(&working));
    HostedContext {
        mounted,
        working,
        items,
        left_out,
        config,
        mcp_servers,
        diagnostics,
        depths,
        unmatched,
    }
}

/// X16c: warns that a switch for subdirectories drops the directory's own files too.
fn warn_of_own_files(
    config: &Config,
    place: &HostedPlace,
    contexts: &[ContextDir],
    diagnostics: &mut Vec<Diagnostic>,
) {
    let Flag { value: true, origin: Some(origin) } = &config.ignore_ancestor_context else {
        return;
    };
    let is_above = origin.scope != HostedScope::Global && *origin.owner != *place.working;
    if is_above && contexts.iter().any(|context| context.owner == origin.owner) {
        let message = "for subdirectories, this also excludes the files of its own directory";
        let rule = rules::context_dir::IGNORE_ANCESTOR_OWN;
        let help = "set it in the subdirectory instead";
        diagnostics.push(origin.problem(rule, message, help));
    }
}

/// The decision about each file.
pub(super) struct Judge<'j> {
    options: HostedOptions,
    query: &'j Query<'j>,
    place: &'j HostedPlace,
    environment: &'j HostedEnvironment,
    config: &'j Config,
    excludes: Excludes<'j>,
    /// The paths of the files read so far.
    seen: BTreeSet<PathBuf>,
    items: Vec<HostedItem>,
    left_out: Vec<OmittedFile>,
    pub(super) diagnostics: Vec<Diagnostic>,
    /// The number of unsupported files in the current directory.
    unsupported: usize,
    /// The files read from the current directory.
    count: ReadCount,
    /// True after a limit: the rest of the current directory is not read.
    pub(super) is_full: bool,
    /// The context directories that are read.
    context_roots: Vec<PathBuf>,
    /// The `includeFiles` patterns that match no file from the working directory.
    unmatched: BTreeSet<String>,
}

/// The number of files read from one context directory, or for the include patterns. Each trigger
/// has its own count: manual files must not displace one that is always active.
#[derive(Debug, Default)]
struct ReadCount {
    bytes: usize,
    files: [usize; Trigger::ALL.len()],
}

/// A file that no exclusion concerns.
struct AdmittedFile<'a> {
    handle: &'a dyn Dir,
    entry: &'a DirEntry,
    path: &'a Path,
    /// The path below its context directory; empty for included files.
    inside: &'a str,
    scope: HostedScope,
    /// The directory that its globs are relative to.
    anchor: &'a Path,
    format: ContextFormat,
    /// True if its content must be checked to be text.
    is_guess: bool,
}

impl Judge<'_> {
    /// Starts another context directory, or the include patterns.
    fn start_counting(&mut self) {
        (self.count, self.is_full) = (ReadCount::default(), false);
    }

    pub(super) fn leave_out(&mut self, path: &Path, scope: HostedScope, reason: impl Into<String>) {
        self.left_out.push(OmittedFile { path: path.to_owned(), scope, reason: reason.into() });
    }

    /// Returns the reason why a whole scope is left out.
    pub(super) fn find_ignore_reason(&self, scope: HostedScope) -> Option<String> {
        let (what, flag) = match scope {
            HostedScope::Global => ("global", &self.config.ignore_global_context),
            HostedScope::Mounted | HostedScope::Ancestor => {
                ("ancestor", &self.config.ignore_ancestor_context)
            }
            HostedScope::Working | HostedScope::Include => return None,
        };
        let origin = flag.origin.as_ref().filter(|_| flag.value)?;
        Some(format!("{what} context is ignored by {}", origin.path().display()))
    }

    fn is_in_force(&self, sensitive: Sensitive) -> bool {
        sensitive.tier == Tier::Required || self.options.extra_names == ExtraNames::Exclude
    }

    pub(super) fn leave_out_sensitive(
        &mut self,
        path: &Path,
        scope: HostedScope,
        found: Sensitive,
    ) {
        let pattern = found.pattern;
        self.leave_out(
            path,
            scope,
            format!("has a name that matches `{pattern}` and is never read"),
        );
        let message = format!("brief never reads this file: its name matches `{pattern}`");
        self.diagnostics.push(
            path_diagnostic(path, rules::context_dir::SENSITIVE_EXCLUDED, message)
                .with_help("rename it if it contains no secret"),
        );
    }

    /// X1: leaves out a file with a name that is reserved for configuration.
    fn leave_out_reserved(&mut self, path: &Path, scope: HostedScope) {
        self.leave_out(path, scope, "has a name that is reserved for configuration");
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let message = format!("`{name}` is not read: the name is reserved");
        self.diagnostics.push(
            path_diagnostic(path, rules::context_dir::RESERVED_CONFIG_NAME, message)
                .with_help(format!("name the configuration `{CONFIG_NAME}`")),
        );
    }

    fn leave_out_unsupported(&mut self, path: &Path, scope: HostedScope) {
        self.leave_out(path, scope, UNSUPPORTED);
        self.unsupported += 1;
        if self.unsupported > MATCHES_LISTED {
            return;
        }
        let message = "files of this type are not read as context";
        self.diagnostics.push(
            path_diagnostic(path, rules::context_dir::UNSUPPORTED_TYPE, message)
                .with_help("use `.md`, `.mdc` or `.txt`"),
        );
    }

    /// Ends the reports about one directory: after the first ones, one gives the number.
    fn sum_up(&mut self, context: &Path) {
        let more = std::mem::take(&mut self.unsupported).saturating_sub(MATCHES_LISTED);
        if more > 0 {
            let message = match more {
                1 => "1 more file here has an unsupported type".to_owned(),
                _ => format!("{more} more files here have unsupported types"),
            };
            self.diagnostics.push(path_diagnostic(
                context,
                rules::context_dir::UNSUPPORTED_TYPE,
                message,
            ));
        }
    }

    /// Leaves out everything except regular files.
    fn is_regular(&mut self, path: &Path, scope: HostedScope, kind: FileKind) -> bool {
        match kind {
            FileKind::File => return true,
            FileKind::Link => {
                self.leave_out(path, scope, "is a symbolic link, which is not followed");
                self.diagnostics.push(link_diagnostic(path));
            }
            other => {
                let reason = format!("is {}", other.noun());
                self.diagnostics.push(unreadable_diagnostic(path, &reason));
                self.leave_out(path, scope, reason);
            }
        }
        false
    }

    /// Reads a file and decides about it.
    fn read_file(&mut self, file: &AdmittedFile<'_>) {
        let bytes = match super::context_dir::read_dir_entry(file.handle, file.entry) {
            Ok(bytes) => bytes,
            Err(error) => {
                self.leave_out(file.path, file.scope, format!("cannot be read: {error}"));
                return self.diagnostics.push(read_error_diagnostic(file.path, &error));
            }
        };
        self.count.bytes += bytes.len();
        if self.count.bytes > limits::HOSTED_BYTES {
            let limit = limits::HOSTED_BYTES;
            let message = format!("more than {limit} bytes of context files: the rest is skipped");
            self.is_full = true;
            return self.diagnostics.push(path_diagnostic(
                file.path,
                rules::context_dir::LIMIT_FILES,
                message,
            ));
        }
        self.seen.insert(file.path.to_owned());
        let source = Arc::new(Source::from_bytes(file.path, bytes));
        if file.is_guess && (source.encoding() != Encoding::Utf8 || source.text().contains('\0')) {
            return self.leave_out_unsupported(file.path, file.scope);
        }
        let (parsed, diagnostics) = parse::parse_hosted_file(&source, file.format);
        self.diagnostics.extend(diagnostics);
        if parsed.disabled {
            let reason = "is disabled in its frontmatter";
            return self.leave_out(file.path, file.scope, reason);
        }
        let (state, reason) = match self.find_mention(file) {
            Some(mention) => (State::Active, format!("mentioned as `{mention}`")),
            None if self.is_too_many(file, parsed.trigger) => return,
            None => decide_state(&parsed, file.anchor, self.place.target.as_deref()),
        };
        let name = file.path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let line = source.line_number(parsed.body_start);
        let scope = file.scope;
        let anchor = Arc::from(file.anchor);
        let owner = if scope == HostedScope::Global { Owner::User } else { Owner::Project };
        let check_scope = || {
            let is_listed = matches!(parsed.globs, Globs::Listed(_));
            let coverage =
                is_listed.then(|| -> Arc<dyn CheckCoverage> { Arc::new(parsed.globs.clone()) });
            CheckScope::new(file.anchor, coverage)
        };
        let found = &mut self.diagnostics;
        let check = parse_header_check(&source, parsed.body_start, check_scope, owner, found);
        self.items.push(HostedItem {
            file: parsed,
            name,
            scope,
            state,
            reason,
            line,
            anchor,
            check,
        });
    }

    /// Counts a file and leaves it out beyond the limit of its trigger.
    fn is_too_many(&mut self, file: &AdmittedFile<'_>, trigger: Trigger) -> bool {
        let limit = limits::HOSTED_FILES;
        let count = &mut self.count.files[trigger as usize];
        *count += 1;
        if *count <= limit {
            return false;
        }
        if *count == limit + 1 {
            let message = format!(
                "more than {limit} context files with the trigger `{trigger}`: the rest is skipped"
            );
            let diagnostic = path_diagnostic(file.path, rules::context_dir::LIMIT_FILES, message);
            self.diagnostics.push(diagnostic.with_help("mentioned files are still read"));
        }
        let reason = format!("more than {limit} context files have the trigger `{trigger}`");
        self.leave_out(file.path, file.scope, reason);
        true
    }

    /// Returns the mention of this file: by its stem, its name, or a path.
    fn find_mention(&self, file: &AdmittedFile<'_>) -> Option<String> {
        let name = file.path.file_name().unwrap_or_default().to_string_lossy();
        let stem = file.path.file_stem().unwrap_or_default().to_string_lossy();
        let inside_stem = file.inside.rsplit_once('.').map(|(stem, _)| stem);
        let home = self.environment.home.as_deref();
        let is_this = |mention: &str| {
            let way = mention.strip_prefix("./").unwrap_or(mention);
            !mention.is_empty()
                && (mention == stem
                    || mention == name
                    || way == file.inside
                    || Some(way) == inside_stem
                    || expand_home(mention, home).as_deref() == Some(file.path)
                    || Path::new(mention) == file.path
                    || way.contains('/')
                        && (way == paths::relative_path(&self.place.working, file.path)
                            || way == paths::relative_path(&self.place.mounted, file.path)))
        };
        let mentions = self.query.mentions.iter();
        mentions
            .map(|mention| mention.strip_prefix('@').unwrap_or(mention))
            .find(|mention| is_this(mention))
            .map(str::to_owned)
    }

    /// Decides about an entry of a context directory that is not a directory.
    pub(super) fn visit_candidate(
        &mut self,
        context: &ContextDir,
        candidate: &ContextCandidate<'_>,
    ) {
        let ContextCandidate { handle, entry, path, inside } = candidate;
        let scope = context.scope;
        if inside == CONFIG_NAME {
            return;
        }
        if let Some(reason) =
            self.excludes.find_reason(path, self.place, Some((&context.owner, inside)))
        {
            return self.leave_out(path, scope, reason);
        }
        if let Some(reason) = self.find_ignore_reason(scope) {
            return self.leave_out(path, scope, reason);
        }
        let above = context.path.to_string_lossy();
        let found = sensitive::find_below(&above, inside, Leaf::File);
        if let Some(found) = found.filter(|&found| self.is_in_force(found)) {
            return self.leave_out_sensitive(path, scope, found);
        }
        if is_reserved(inside) {
            return self.leave_out_reserved(path, scope);
        }
        if entry.name.as_encoded_bytes().starts_with(b".") {
            return self.leave_out(path, scope, "has a name that begins with a dot");
        }
        if !self.is_regular(path, scope, entry.kind) {
            return;
        }
        let Some(format) = ContextFormat::from_file_name(&entry.name.to_string_lossy()) else {
            return self.leave_out_unsupported(path, scope);
        };
        let anchor = if scope == HostedScope::Global {
            self.place.mounted.as_path()
        } else {
            &context.owner
        };
        self.read_file(&AdmittedFile {
            handle: *handle,
            entry,
            path,
            inside,
            scope,
            anchor,
            format,
            is_guess: false,
        });
    }
}

/// Returns the state of a file for the file of the question, with the reason.
pub(super) fn decide_state(
    parsed: &HostedFile,
    anchor: &Path,
    target: Option<&Path>,
) -> (State, String) {
    match parsed.trigger {
        Trigger::Always => (State::Active, "trigger is always".to_owned()),
        Trigger::Agent if parsed.description.trim().is_empty() => {
            let reason = "trigger is agent, but the file has no description to list";
            (State::Manual, reason.to_owned())
        }
        Trigger::Agent => (State::Listed, "trigger is agent: listed by its description".to_owned()),
        Trigger::Manual => (State::Manual, "only when mentioned".to_owned()),
        Trigger::Auto => {
            let Some(target) = target else {
                let reason = "trigger is auto, but the query names no file";
                return (State::Manual, reason.to_owned());
            };
            let path = paths::relative_path(anchor, target);
            match &parsed.globs {
                Globs::Everything => (State::Active, format!("glob `*` matches {path}")),
                Globs::Listed(list) => match list.iter().find(|(glob, _)| glob.matches(&path)) {
                    Some((glob, _)) => {
                        (State::Active, format!("glob `{}` matches {path}", glob.as_str()))
                    }
                    None => (State::Manual, not_matched(list, &path)),
                },
            }
        }
    }
}

fn is_reserved(inside: &str) -> bool {
    ["config.json", "config.yaml"].iter().any(|name| inside.eq_ignore_ascii_case(name))
}

fn not_matched(list: &[(HostedPattern, Span)], path: &str) -> String {
    let globs: Vec<_> = list.iter().map(|(glob, _)| format!("`{}`", glob.as_str())).collect();
    match globs.as_slice() {
        [] => format!("no glob matches {path}"),
        [glob] => format!("glob {glob} does not match {path}"),
        _ => format!("globs {} do not match {path}", globs.join(", ")),
    }
}
