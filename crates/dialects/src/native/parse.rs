//! Text to [`Guide`]: what each client makes of the front matter.

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;

use brief_profiles::{BUILTIN, ClientPlace, Form};
use brief_syntax::front_matter::FrontMatter;
use brief_syntax::yaml::{Node, Value};
use brief_syntax::{Diagnostic, Source, Span, limits, rules};
use toml_edit::Document;

use super::clients::form_label;
use super::globs::{Globs, GlobsProblem, Semantics};
use super::model::{Guide, Scope, Use};

/// A file as it was found.
pub(super) struct ClientFile {
    pub(super) source: Arc<Source>,
    /// The file itself, when it was found by a link.
    pub(super) real: Option<PathBuf>,
    /// The path below the directory that it is about, with `/` between names.
    pub(super) below: String,
}

/// Reads a file of a place.
pub(super) fn parse_guide(
    found: ClientFile,
    place: &ClientPlace,
    diagnostics: &mut Vec<Diagnostic>,
) -> Guide {
    let ClientFile { source, real, below } = found;
    let mut front = FrontMatter::from_source(&source);
    let is_bare = matches!(place.form, Form::Instructions | Form::Legacy | Form::Plain);
    if is_bare && !has_fields(&front) {
        // Two lines of dashes in a format without front matter are just that.
        front.header = None;
        front.body_start = without_mark(&source);
        front.diagnostics.retain(|diagnostic| diagnostic.rule == rules::text::NOT_UTF8);
    }
    if matches!(place.form, Form::Cursor | Form::Windsurf) {
        allow_bare_globs(&source, &mut front);
    }
    let is_broken =
        front.diagnostics.iter().any(|diagnostic| diagnostic.rule != rules::text::NOT_UTF8);
    let is_lost = place.form == Form::Claude && is_lost_to_claude(&source, &front);
    diagnostics.append(&mut front.diagnostics);
    let toml_fields = toml_agent(&source);
    let mut fields = FormFields { source: &source, front: &front, diagnostics };
    let (scope, use_) = match place.form {
        Form::Instructions | Form::Legacy | Form::Plain => {
            let name = below.rsplit('/').next().unwrap_or(&below);
            (None, always_active(format!("{name} applies to everything below it")))
        }
        Form::Claude if is_lost => {
            (None, always_active("has invalid frontmatter, so Claude Code reads no `paths` in it"))
        }
        Form::Claude => fields.parse_claude_use(),
        Form::Cursor => fields.parse_cursor_use(),
        Form::Copilot => fields.parse_copilot_use(),
        Form::Cline if is_broken => {
            front.body_start = without_mark(&source);
            (None, always_active("has invalid frontmatter, so Cline reads all of it as text"))
        }
        Form::Cline => fields.parse_cline_use(),
        Form::Windsurf => fields.parse_windsurf_use(),
        Form::Augment => fields.parse_augment_use(),
        Form::Qwen => fields.parse_qwen_use(),
        Form::Continue => fields.continue_(),
        Form::Kiro => fields.parse_kiro_use(),
        Form::Skill => fields.parse_skill_use(),
        Form::Agent if toml_fields.is_some() => (None, Use::Listed),
        Form::Agent => fields.parse_agent_use(),
    };
    let (name, description) = toml_fields.unwrap_or_else(|| {
        (name_of(place.form, &below, &front), guide_description(place.form, &source, &front))
    });
    let guide = Guide::new(source, form_label(place.form), name, front.body_start, use_);
    let mut guide = Guide { description, scope, place: Some(place.clone()), real, ..guide };
    let is_text = matches!(guide.use_, Use::Active(_) | Use::Manual);
    if is_text && guide.content().trim().is_empty() {
        guide.use_ = Use::Never("is empty".into());
    }
    if guide.use_ == Use::Manual {
        guide.mentions = mention_keys(place.form, &guide.name, &below);
    }
    guide
}

/// Returns why a client does not load a rule of its own at once; `None` if it does, and for a file of no client. `below` is
/// the path in the project.
pub(super) fn limit_of_rule(below: &str, source: &Arc<Source>) -> Option<&'static str> {
    let place = BUILTIN.project.iter().find(|place| {
        let inside = below.strip_prefix(place.path.as_ref() as &str);
        form_label(place.form) == "rule" && inside.is_some_and(|inside| inside.starts_with('/'))
    })?;
    let found = ClientFile { source: Arc::clone(source), real: None, below: below.to_owned() };
    let guide = parse_guide(found, place, &mut Vec::new());
    let is_wide = |scope: &Scope| {
        scope.globs.written.iter().any(|pattern| matches!(pattern.as_str(), "**" | "**/*" | "*"))
    };
    match (&guide.use_, &guide.scope) {
        (Use::Listed, _) => Some("is only listed by its description"),
        (Use::Manual, _) => Some("applies only when mentioned"),
        (_, Some(scope)) if !is_wide(scope) => {
            Some("applies only to some files, and a task names none")
        }
        _ => None,
    }
}

/// Reads a file that another one imports.
pub(super) fn parse_imported(source: Arc<Source>, reason: String) -> Guide {
    let front = FrontMatter::from_source(&source);
    let body_start = if has_fields(&front) { front.body_start } else { without_mark(&source) };
    let is_empty = source.text()[body_start..].trim().is_empty();
    let name = source.path().file_name().unwrap_or_default().to_string_lossy();
    let name = file_stem(&name).to_owned();
    let use_ = if is_empty { Use::Never("is empty".into()) } else { always_active(reason) };
    Guide::new(source, form_label(Form::Instructions), name, body_start, use_)
}

fn has_fields(front: &FrontMatter) -> bool {
    let root = front.header.as_ref().and_then(|header| header.yaml.root());
    root.is_some_and(|root| matches!(root.value(), Value::Mapping(_)))
}

/// Returns whether Claude Code reads no field at all: it repairs a value with a character that means
/// something in YAML, as patterns have, and gives up on anything else (2.1.325).
fn is_lost_to_claude(source: &Source, front: &FrontMatter) -> bool {
    front.diagnostics.iter().any(|diagnostic| match diagnostic.rule {
        rules::FRONTMATTER_INVALID => true,
        rules::FRONTMATTER_REPAIRED => {
            let value = source.slice(diagnostic.span).trim();
            // It looks at one line at a time.
            value.contains('\n')
                || value.starts_with(['"', '\''])
                    && !value.contains(['*', '{', '[', '!', '&', '#', '@'])
        }
        _ => false,
    })
}

/// Cursor and Windsurf write `globs` without quotes, which is not YAML and is right there: only the rest of the header
/// may be found wrong. Cursor takes every line as it stands.
fn allow_bare_globs(source: &Source, front: &mut FrontMatter) {
    if source.path().extension().is_some_and(|ending| ending == "mdc") {
        front.diagnostics.retain(|found| found.rule != rules::FRONTMATTER_REPAIRED);
        return;
    }
    let text = source.text();
    front.diagnostics.retain(|diagnostic| {
        let start = diagnostic.span.start.min(text.len());
        let line = text[..start].rfind('\n').map_or(0, |at| at + 1);
        diagnostic.rule != rules::FRONTMATTER_REPAIRED || !text[line..].starts_with("globs:")
    });
}

/// Returns name and description of an agent in TOML, as Codex has them.
fn toml_agent(source: &Source) -> Option<(String, String)> {
    source.path().extension().filter(|ending| *ending == "toml")?;
    let document = Document::parse(source.text()).ok()?;
    let text = |key: &str| Some(document.get(key)?.as_str()?.trim().to_owned());
    Some((text("name")?, text("description")?))
}

fn without_mark(source: &Source) -> usize {
    let text = source.text();
    text.len() - text.trim_start_matches('\u{feff}').len()
}

fn always_active(reason: impl Into<Cow<'static, str>>) -> Use {
    Use::Active(reason.into())
}

fn name_of(form: Form, below: &str, front: &FrontMatter) -> String {
    let mut names = below.rsplit('/');
    let file = names.next().unwrap_or(below);
    let own = || front.get("name").and_then(Node::as_str).filter(|name| !name.trim().is_empty());
    match form {
        Form::Skill => names.next().unwrap_or(file).to_owned(),
        Form::Agent => own().unwrap_or(file_stem(file)).to_owned(),
        _ => file_stem(file).to_owned(),
    }
}

fn file_stem(file: &str) -> &str {
    let ending = [".instructions.md", ".agent.md", ".mdc", ".md", ".txt", ".toml", ".yaml", ".yml"]
        .into_iter()
        .find_map(|ending| file.strip_suffix(ending));
    ending.filter(|stem| !stem.is_empty()).unwrap_or(file)
}

fn guide_description(form: Form, source: &Source, front: &FrontMatter) -> String {
    let written = front.get("description").and_then(Node::as_str).map(str::trim);
    if let Some(written) = written.filter(|written| !written.is_empty()) {
        return written.to_owned();
    }
    if form != Form::Skill {
        return String::new();
    }
    // Claude Code takes the first paragraph.
    let body = source.text().get(front.body_start..).unwrap_or_default();
    let mut lines = body.lines().map(str::trim);
    lines.find(|line| !line.is_empty() && !line.starts_with('#')).unwrap_or_default().to_owned()
}

fn mention_keys(form: Form, name: &str, below: &str) -> Vec<(String, String)> {
    let file = below.rsplit('/').next().unwrap_or(below);
    let mut keys = vec![name, below];
    if form != Form::Skill {
        keys.push(file);
    }
    keys.into_iter().map(|key| (key.to_owned(), format!("mentioned as `{key}`"))).collect()
}

/// The fields of one file, and where to report what is wrong with them.
struct FormFields<'f> {
    source: &'f Arc<Source>,
    front: &'f FrontMatter,
    diagnostics: &'f mut Vec<Diagnostic>,
}

impl FormFields<'_> {
    /// Returns the use of a file whose field names the files that it is about; without patterns it is `otherwise`.
    fn parse_scoped_use(
        &mut self,
        field: &'static str,
        semantics: Semantics,
        otherwise: impl FnOnce(&Self) -> Use,
    ) -> (Option<Scope>, Use) {
        match self.parse_scope(field, semantics) {
            Some(scope) => (Some(scope), always_active("")),
            None => (None, otherwise(self)),
        }
    }

    fn parse_claude_use(&mut self) -> (Option<Scope>, Use) {
        self.parse_scoped_use("paths", Semantics::Claude, |fields| {
            match fields.front.get("paths") {
                Some(_) => always_active("has `paths` that match every file"),
                None => always_active("has no `paths`"),
            }
        })
    }

    fn parse_cursor_use(&mut self) -> (Option<Scope>, Use) {
        if self.is_true("alwaysApply") {
            return (None, always_active("`alwaysApply` is true"));
        }
        self.parse_scoped_use("globs", Semantics::Workspace, FormFields::offered_or_manual)
    }

    fn parse_copilot_use(&mut self) -> (Option<Scope>, Use) {
        self.parse_scoped_use("applyTo", Semantics::Copilot, |_| Use::Manual)
    }

    fn parse_cline_use(&mut self) -> (Option<Scope>, Use) {
        match self.front.get("paths").map(Node::value) {
            Some(Value::Sequence(list)) if list.is_empty() => {
                (None, Use::Never("has empty `paths`".into()))
            }
            // Only a list counts (the extension's source, 2026-08-22).
            Some(Value::Scalar(_)) => {
                (None, always_active("has `paths` that are not a list, which Cline does not read"))
            }
            _ => self.parse_scoped_use("paths", Semantics::Workspace, |_| {
                always_active("has no `paths`")
            }),
        }
    }

    fn parse_augment_use(&mut self) -> (Option<Scope>, Use) {
        let use_ = match self.field_text("type").to_ascii_lowercase().as_str() {
            "manual" => Use::Manual,
            "agent_requested" => Use::Listed,
            "always_apply" => always_active("`type` is always_apply"),
            _ if self.is_true("alwaysApply") => always_active("`alwaysApply` is true"),
            _ if self.has_text("description") => Use::Listed,
            _ => always_active("has no `type`"),
        };
        (None, use_)
    }

    fn parse_windsurf_use(&mut self) -> (Option<Scope>, Use) {
        let scope = self.parse_scope("globs", Semantics::Workspace);
        match (self.field_text("trigger"), scope) {
            ("always_on", _) => (None, always_active("`trigger` is always_on")),
            ("model_decision" | "agent", _) => (None, Use::Listed),
            ("manual", _) => (None, Use::Manual),
            (_, Some(scope)) => (Some(scope), always_active("")),
            ("glob", None) => {
                (None, Use::Never("`trigger` is glob, but `globs` is missing".into()))
            }
            (_, None) => (None, always_active("has no `trigger`")),
        }
    }

    fn parse_qwen_use(&mut self) -> (Option<Scope>, Use) {
        self.parse_scoped_use("paths", Semantics::Whole, |_| always_active("has no `paths`"))
    }

    fn continue_(&mut self) -> (Option<Scope>, Use) {
        if self.is_true("alwaysApply") {
            return (None, always_active("`alwaysApply` is true"));
        }
        self.parse_scoped_use("globs", Semantics::Workspace, |fields| {
            match fields.front.get("alwaysApply") {
                None => always_active("has no `globs`"),
                Some(_) => fields.offered_or_manual(),
            }
        })
    }

    fn parse_kiro_use(&mut self) -> (Option<Scope>, Use) {
        let scope = self.parse_scope("fileMatchPattern", Semantics::Whole);
        match (self.field_text("inclusion"), scope) {
            ("fileMatch", Some(scope)) => (Some(scope), always_active("")),
            ("fileMatch", None) => {
                (None, Use::Never("`inclusion` is fileMatch, but the pattern is missing".into()))
            }
            ("manual", _) => (None, Use::Manual),
            ("auto", _) => (None, Use::Listed),
            _ => (None, always_active("`inclusion` is always")),
        }
    }

    fn parse_skill_use(&mut self) -> (Option<Scope>, Use) {
        let scope = self.parse_scope("paths", Semantics::Claude);
        let is_manual = self.is_true("disable-model-invocation");
        (scope, if is_manual { Use::Manual } else { Use::Listed })
    }

    fn parse_agent_use(&mut self) -> (Option<Scope>, Use) {
        let is_manual = self.is_true("disable-model-invocation");
        (None, if is_manual { Use::Manual } else { self.offered_or_manual() })
    }

    fn offered_or_manual(&self) -> Use {
        if self.has_text("description") { Use::Listed } else { Use::Manual }
    }

    fn field_text(&self, field: &str) -> &str {
        self.front.get(field).and_then(Node::as_str).unwrap_or_default()
    }

    fn has_text(&self, field: &str) -> bool {
        !self.field_text(field).trim().is_empty()
    }

    fn is_true(&self, field: &str) -> bool {
        let text = self.field_text(field);
        ["true", "yes", "on", "1"].iter().any(|yes| text.eq_ignore_ascii_case(yes))
    }

    fn parse_scope(&mut self, field: &'static str, semantics: Semantics) -> Option<Scope> {
        let node = self.front.get(field)?;
        let values: Vec<(&str, Span)> = match node.value() {
            Value::Sequence(list) => {
                list.iter().filter_map(|item| Some((item.as_str()?, item.span()))).collect()
            }
            _ => node.as_str().map(|text| (text, node.span())).into_iter().collect(),
        };
        let mut problems = Vec::new();
        let globs = Globs::parse(semantics, values, &mut problems);
        for problem in problems {
            self.diagnostics.push(self.glob_problem(field, problem));
        }
        let globs = globs.filter(|globs| !globs.written.is_empty())?;
        Some(Scope { field, globs: Arc::new(globs) })
    }

    fn glob_problem(&self, field: &str, problem: GlobsProblem) -> Diagnostic {
        match problem {
            GlobsProblem::Invalid { span, pattern, error } => {
                let message = format!("`{pattern}` in `{field}` is not a valid pattern: {error}");
                Diagnostic::new(rules::client::BAD_GLOB, self.source, span, message)
                    .with_help("the other patterns still apply; `\\[` is a literal bracket")
            }
            GlobsProblem::TooMany { span } => {
                let limit = limits::NATIVE_PATTERNS;
                let message =
                    format!("`{field}` has more than {limit} patterns: the rest is skipped");
                Diagnostic::new(rules::client::LIMIT, self.source, span, message)
            }
        }
    }
}
