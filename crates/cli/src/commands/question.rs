//! The arguments of `context`, `why` and their kin, turned into a question; and their words when the
//! answer is empty.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use brief_dialects::dependencies::{DependencyChoice, PackageName};
use brief_dialects::{DIALECTS, Dialect, find_dialect, old_dialect_name};
use brief_engine::tasks::Selectors;
use brief_engine::tokens::Counter;
use brief_engine::{
    Action, Briefing, BriefingRequest, Catalog, Dialects, Moment, Root, Timing, hosted, structured,
};
use brief_profiles::BUILTIN;
use brief_syntax::text::format_count;
use clap::builder::{
    MapValueParser, NonEmptyStringValueParser, PossibleValue, PossibleValuesParser,
    TypedValueParser, ValueParserFactory,
};
use clap::{Args, ValueEnum};

use crate::error::{CommandError, Result};
use crate::session::Session;
use crate::surroundings::{mention_unread_parents, warn_of_root};
use crate::ui::Ui;

#[derive(Debug, Args)]
pub(crate) struct MomentArgs {
    /// Show only items for this action
    #[arg(long, value_name = "ACTION", default_value = "all", value_parser = action_parser())]
    pub(crate) on: AskedAction,

    /// Show only items for this timing
    #[arg(long, value_name = "TIMING", default_value = "all", value_parser = timing_parser())]
    pub(crate) when: AskedTiming,
}

/// An action, or `None` for all. The alias keeps clap from reading it as an optional argument.
pub(crate) type AskedAction = Option<Action>;

pub(crate) type AskedTiming = Option<Timing>;

pub(crate) fn action_parser() -> impl TypedValueParser<Value = AskedAction> {
    PossibleValuesParser::new(["read", "edit", "create", "all"])
        .map(|name| Action::from_name(&name))
}

fn timing_parser() -> impl TypedValueParser<Value = AskedTiming> {
    PossibleValuesParser::new(["before", "after", "all"]).map(|name| Timing::from_name(&name))
}

impl MomentArgs {
    /// Narrows the question to the action and the timing.
    pub(crate) fn narrow_moment(&self, moment: &mut Moment) {
        (moment.action, moment.timing) = (self.on, self.when);
    }
}

/// The directory that the client was started in.
#[derive(Debug, Clone, Args)]
pub(crate) struct StartedArg {
    /// Directory in which the client was started [default: the current directory]
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,
}

impl StartedArg {
    /// Returns the directory. One that is not there is a mistake of who typed it.
    pub(crate) fn resolve_directory(&self, session: &Session) -> Result<PathBuf> {
        let Some(typed) = &self.cwd else { return Ok(session.open_root()?.path().to_owned()) };
        let path = session.directory().join(typed);
        let root = Root::open(session.system(), &path).map_err(|error| {
            let typed = typed.display();
            CommandError::usage(format!("cannot open directory `{typed}`: {error}"))
                .with_hint("pass `--cwd` with the directory where the client was started")
        })?;
        Ok(root.path().to_owned())
    }
}

/// Takes the name of a client. Those that are built in are listed; a project may describe others, which
/// [`known_client`] looks up.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ClientName;

impl TypedValueParser for ClientName {
    type Value = String;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<String, clap::Error> {
        NonEmptyStringValueParser::new().parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(BUILTIN.names().into_iter().map(PossibleValue::new)))
    }
}

/// Refuses a client that is neither built in nor described by the project.
pub(crate) fn known_client(session: &Session, name: &str) -> Result {
    let root = session.repository_root()?;
    let known = brief_profiles::known_client(session.system(), root.path(), name);
    Ok(known?)
}

/// The method of counting tokens.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct CountingArgs {
    /// Count tokens exactly (o200k) instead of estimating
    #[arg(long)]
    pub(crate) exact: bool,
}

impl CountingArgs {
    /// Returns what counts. It writes nothing into the project at `root`.
    pub(crate) fn create_counter<'s>(self, session: &'s Session, root: &Path) -> Counter<'s> {
        if self.exact {
            Counter::exact(session.system()).keep_out_of(root)
        } else {
            Counter::estimate()
        }
    }
}

/// The options of a look at a whole project.
#[derive(Debug, Args)]
pub(crate) struct SurveyArgs {
    /// Show only this format [repeatable]
    #[arg(long, value_name = "FORMAT")]
    pub(crate) only: Vec<DialectArg>,

    #[command(flatten)]
    pub(crate) counting: CountingArgs,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// The limit of an answer's cost.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct BudgetArgs {
    /// Drop the most general items until the rest fits in N tokens
    #[arg(long, value_name = "N")]
    pub(crate) budget: Option<usize>,

    #[command(flatten)]
    pub(crate) counting: CountingArgs,
}

/// The options of a question about one moment, with a limit of its cost.
#[derive(Debug, Args)]
pub(crate) struct BudgetedQuestion {
    #[command(flatten)]
    when: MomentArgs,

    #[command(flatten)]
    pub(crate) question: QuestionArgs,

    #[command(flatten)]
    pub(crate) cost: BudgetArgs,
}

impl BudgetedQuestion {
    /// Answers the question about a path, or about the whole project. For JSON, all that is left out is told, and
    /// tokens are counted.
    pub(crate) fn resolve(
        &self,
        ui: &mut Ui,
        session: &Session,
        typed: &TypedQuestion<'_>,
        is_json: bool,
        skip_left_out: bool,
    ) -> Result<Briefing> {
        self.resolve_with(ui, session, typed, is_json, skip_left_out, |_, briefing| Ok(briefing))
    }

    /// Answers the question, and passes what was read for it with the answer to `then`.
    pub(crate) fn resolve_with<T>(
        &self,
        ui: &mut Ui,
        session: &Session,
        typed: &TypedQuestion<'_>,
        is_json: bool,
        skip_left_out: bool,
        then: impl FnOnce(&Catalog, Briefing) -> Result<T>,
    ) -> Result<T> {
        let session = &session.with_memory();
        let mut request = self.question.create_request(session, typed.path)?;
        typed.warn_of_place(ui, &request.moment)?;
        self.when.narrow_moment(&mut request.moment);
        // A mention may name something that is left out.
        request.moment.skip_left_out = skip_left_out && self.question.mentions.is_empty();
        request.moment.budget = self.cost.budget;
        let counter = self.cost.counting.create_counter(session, request.moment.root.path());
        // Tokens are counted as the user wants it where the numbers are shown or decide.
        let is_counted = is_json || self.cost.budget.is_some();
        let estimate = Counter::estimate();
        let catalog = request.read_catalog();
        let counter = if is_counted { &counter } else { &estimate };
        then(&catalog, Briefing::from_catalog(&catalog, request.moment, counter))
    }
}

/// The options of a question: client, task, dialects and start directory.
#[derive(Debug, Args)]
pub(crate) struct QuestionArgs {
    /// Show only this format [repeatable]
    #[arg(long, value_name = "FORMAT")]
    pub(crate) only: Vec<DialectArg>,

    /// The client's workspace directory [default: the root]
    #[arg(long, value_name = "DIR")]
    workspace: Option<PathBuf>,

    /// Include the item with this name, as if mentioned [repeatable]
    #[arg(
        long = "mention", value_name = "NAME",
        add = clap_complete::ArgValueCompleter::new(crate::complete::complete_mentions)
    )]
    mentions: Vec<String>,

    /// Omit items that this client loads itself
    #[arg(
        long, value_name = "NAME", value_parser = ClientName,
        add = clap_complete::ArgValueCompleter::new(crate::complete::known_clients)
    )]
    pub(crate) client: Option<String>,

    #[command(flatten)]
    started: StartedArg,

    /// Include rules for this task
    #[arg(
        long, value_name = "NAME",
        add = clap_complete::ArgValueCompleter::new(super::task::complete_task)
    )]
    task: Option<String>,

    /// Include rules whose KEY is VALUE, or that do not set KEY [repeatable]
    #[arg(short = 's', long = "select", value_name = "KEY=VALUE")]
    selectors: Vec<String>,

    /// Base directory of `includeFiles` patterns
    #[arg(long, value_name = "DIRECTORY", default_value = "working", hide = true)]
    include_base: AnchorArg,

    /// Allow `includeFiles` patterns outside the workspace
    #[arg(long, hide = true)]
    allow_outside: bool,

    /// Include guidance from these packages [default without NAME: direct dependencies]
    #[arg(long, value_name = "NAME", num_args = 0.., value_parser = package_name)]
    dependencies: Option<Vec<PackageName>>,
}

fn package_name(text: &str) -> Result<PackageName, String> {
    PackageName::parse(text)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum AnchorArg {
    /// The working directory, as specified
    Working,
    /// The directory of the configuration file
    Config,
}

/// A dialect that the user names.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DialectArg {
    name: &'static str,
    noun: &'static str,
}

impl DialectArg {
    pub(crate) fn new(dialect: &dyn Dialect) -> DialectArg {
        DialectArg { name: dialect.name(), noun: dialect.noun() }
    }
}

impl ValueParserFactory for DialectArg {
    type Parser = MapValueParser<PossibleValuesParser, fn(String) -> DialectArg>;

    fn value_parser() -> Self::Parser {
        let values = DIALECTS.iter().map(|dialect| {
            let value = PossibleValue::new(dialect.name()).help(dialect.summary());
            value.aliases(old_dialect_name(dialect.name()))
        });
        PossibleValuesParser::new(values).map(|typed| {
            DialectArg::new(find_dialect(&typed).expect("the parser takes these names only"))
        })
    }
}

impl QuestionArgs {
    /// Returns the question about a path, or about the whole project.
    pub(crate) fn create_request<'s>(
        &self,
        session: &'s Session,
        path: Option<&Path>,
    ) -> Result<BriefingRequest<'s>> {
        let mut request = create_briefing_request(session, path)?;
        let moment = &mut request.moment;
        self.client.iter().try_for_each(|client| known_client(session, client))?;
        moment.set_client(session.system(), self.client.clone());
        moment.started = Some(self.started.resolve_directory(session)?);
        moment.task.clone_from(&self.task);
        moment.selectors = read_selectors(&self.selectors)?;
        moment.mentions.clone_from(&self.mentions);
        moment.hosted = self.hosted_options();
        moment.dialects = select_dialects(&self.only);
        moment.dependencies = match &self.dependencies {
            None => DependencyChoice::Recorded,
            Some(names) if names.is_empty() => DependencyChoice::Direct,
            Some(names) => DependencyChoice::Named(names.clone()),
        };
        Ok(match &self.workspace {
            Some(workspace) => request.mounted(session.directory().join(workspace)),
            None => request,
        })
    }

    fn hosted_options(&self) -> hosted::HostedOptions {
        hosted::HostedOptions {
            anchor: match self.include_base {
                AnchorArg::Working => hosted::Anchor::WorkingDirectory,
                AnchorArg::Config => hosted::Anchor::ConfigDirectory,
            },
            outside: if self.allow_outside {
                hosted::Outside::Allow
            } else {
                hosted::Outside::Refuse
            },
            ..hosted::HostedOptions::default()
        }
    }
}

/// Returns the question about a path, or about the whole project, from all dialects.
pub(crate) fn create_briefing_request<'s>(
    session: &'s Session,
    path: Option<&Path>,
) -> Result<BriefingRequest<'s>> {
    let project = session.open_project()?;
    Ok(path.map_or_else(|| project.everything(), |path| project.briefing(path)))
}

/// Reads what was typed after `-s`.
pub(crate) fn read_selectors(typed: &[String]) -> Result<Selectors> {
    let mut selectors = Selectors::default();
    for text in typed {
        selectors.add_text(text).map_err(|error| {
            CommandError::usage(error.to_string()).with_hint("write `-s key=value`")
        })?;
    }
    Ok(selectors)
}

/// Returns the dialects to read; none means all.
pub(crate) fn select_dialects(only: &[DialectArg]) -> Dialects {
    if only.is_empty() {
        Dialects::All
    } else {
        Dialects::Only(only.iter().map(|dialect| dialect.name).collect())
    }
}

/// A question as the user typed it, for messages about its answer.
pub(crate) struct TypedQuestion<'q> {
    session: &'q Session,
    path: Option<&'q Path>,
    only: &'q [DialectArg],
}

impl<'q> TypedQuestion<'q> {
    pub(crate) fn new(
        session: &'q Session,
        path: Option<&'q Path>,
        only: &'q [DialectArg],
    ) -> TypedQuestion<'q> {
        TypedQuestion { session, path, only }
    }

    /// Warns of a path outside the root, for which no `AGENTS.yaml` counts, and of a root that is no repository.
    pub(crate) fn warn_of_place(&self, ui: &mut Ui, moment: &Moment) -> Result {
        warn_of_root(ui, self.session, &moment.root)?;
        if let Some(path) = self.path.filter(|_| self.is_told_outside(moment)) {
            let (path, root) = (path.display(), moment.root.path().display());
            ui.print_warning(&format!("`{path}` is outside `{root}`; no AGENTS.yaml applies"))?;
        }
        Ok(())
    }

    fn is_told_outside(&self, moment: &Moment) -> bool {
        let is_structured = self.only.is_empty()
            || self.only.iter().any(|dialect| dialect.name == structured::NAME);
        moment.is_outside && is_structured
    }

    /// Returns the noun for what was looked for.
    fn noun(&self) -> &'static str {
        match self.only {
            [only] => only.noun,
            _ => "guidance",
        }
    }

    /// Prints the answer of the command `kind` as JSON. A missing context file is a warning beside it.
    pub(crate) fn print_json(
        &self,
        ui: &mut Ui,
        kind: &'static str,
        briefing: &Briefing,
    ) -> Result {
        if briefing.files == 0 && !self.is_told_outside(&briefing.moment) {
            self.warn_of_no_file(ui, &briefing.moment)?;
        }
        let (root, diagnostics) = (briefing.root(), briefing.diagnostics.as_slice());
        ui.print_json(kind, root, diagnostics, briefing)
    }

    fn warn_of_no_file(&self, ui: &mut Ui, moment: &Moment) -> Result {
        let sought = self.noun();
        let place = match shown_target(moment) {
            Some(path) => format!("for {path}"),
            None => "in this project".to_owned(),
        };
        ui.print_warning(&format!("no {sought} found {place}"))?;
        mention_unread_parents(ui, self.session, &moment.root)?;
        if matches!(sought, "guidance" | "AGENTS.yaml files") {
            ui.print_hint("run `brief init` to create an AGENTS.yaml")?;
        }
        Ok(())
    }

    /// Reports how many items the budget cut, and where to see them.
    pub(crate) fn mention_cuts(&self, ui: &mut Ui, cut: usize, cost: BudgetArgs) -> Result {
        let Some(budget) = cost.budget.filter(|_| cut > 0) else { return Ok(()) };
        let exact = if cost.counting.exact { " --exact" } else { "" };
        let items = format_count(cut, "item");
        let way = match self.path.map(Path::display) {
            Some(path) => format!("see `brief why {path} --budget {budget}{exact}`"),
            None => "see `left_out` with `--json`".to_owned(),
        };
        ui.print_status(&format!("dropped {items} to stay within {budget} tokens; {way}"))?;
        Ok(())
    }

    /// Explains an empty answer. `files` is how many files of guidance were found.
    pub(crate) fn explain_nothing(
        &self,
        ui: &mut Ui,
        moment: &Moment,
        files: usize,
        what: &str,
        hint: WhyHint,
    ) -> Result {
        if self.is_told_outside(moment) {
            return Ok(());
        }
        if files == 0 {
            return self.warn_of_no_file(ui, moment);
        }
        let Some(path) = shown_target(moment) else {
            return ui.print_status(&format!("no {what} in this project"));
        };
        ui.print_status(&format!("no {what} for {path}"))?;
        if let Some(typed) = self.path.filter(|_| hint == WhyHint::Given) {
            let why = typed.display();
            ui.print_hint(&format!("run `brief why {why}` to see why each item is skipped"))?;
        }
        Ok(())
    }
}

/// Returns the path below the root as people read it; `None` for the whole project.
fn shown_target(moment: &Moment) -> Option<&str> {
    moment.target.as_ref()?;
    Some(if moment.slashed_path().is_empty() { "." } else { moment.slashed_path() })
}

/// The hint at `brief why`, which is useless to a user who has just run it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WhyHint {
    Given,
    /// The user has just run `brief why`.
    Left,
}

/// Returns a place as people read it: relative to the root, if it lies there.
pub(crate) fn shown_place(root: &Path, path: &Path, line: usize) -> String {
    format!("{}:{line}", path.strip_prefix(root).unwrap_or(path).display())
}

/// The path of a command that can also list everything.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct PathOrAll {
    /// File or directory, which need not exist; a trailing `/` means a directory
    pub(crate) path: Option<PathBuf>,

    /// List all items, ignoring patterns
    #[arg(long)]
    pub(crate) all: bool,
}
