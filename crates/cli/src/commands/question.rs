//! What `context`, `decisions` and `why` ask, and what they say when there is nothing.

use std::path::{Path, PathBuf};

use brief_engine::tasks::Selectors;
use brief_engine::tokens::Counter;
use brief_engine::{
    Action, Catalog, Dialects, Moment, Report, Resolution, Root, Scope, Target, TargetKind, Timing,
    agents, budget, hosted, native, portable, structured, tasks,
};
use brief_syntax::Diagnostic;
use brief_syntax::render::Envelope;
use brief_syntax::walk::Ignored;
use clap::builder::PossibleValuesParser;
use clap::{Args, ValueEnum};

use crate::error::CommandError;
use crate::session::Session;
use crate::ui::Ui;

#[derive(Debug, Args)]
pub(crate) struct When {
    /// Only what is for this action
    #[arg(long, value_name = "ACTION", default_value = "all")]
    pub(crate) on: OnArg,

    /// Only what is for this timing
    #[arg(long, value_name = "TIMING", default_value = "all")]
    pub(crate) when: WhenArg,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum OnArg {
    Read,
    Edit,
    Create,
    All,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum WhenArg {
    Before,
    After,
    All,
}

impl OnArg {
    pub(crate) fn action(self) -> Option<Action> {
        match self {
            OnArg::Read => Some(Action::Read),
            OnArg::Edit => Some(Action::Edit),
            OnArg::Create => Some(Action::Create),
            OnArg::All => None,
        }
    }
}

impl WhenArg {
    pub(crate) fn timing(self) -> Option<Timing> {
        match self {
            WhenArg::Before => Some(Timing::Before),
            WhenArg::After => Some(Timing::After),
            WhenArg::All => None,
        }
    }
}

/// Where the client that asks was started.
#[derive(Debug, Clone, Args)]
pub(crate) struct Started {
    /// The directory that the client was started in [default: the current directory]
    #[arg(long, value_name = "DIR")]
    started: Option<PathBuf>,
}

impl Started {
    const HERE: Started = Started { started: None };

    /// Returns the directory. One that is not there is a mistake of who typed it.
    pub(crate) fn directory(&self, session: &Session) -> Result<PathBuf, CommandError> {
        let Some(typed) = &self.started else { return Ok(session.root()?.path().to_owned()) };
        let path = session.directory().join(typed);
        let root = Root::open(session.system(), &path).map_err(|error| {
            let typed = typed.display();
            CommandError::usage(format!("the directory `{typed}` cannot be opened: {error}"))
                .with_hint("`--started` names the directory that the client was started in")
        })?;
        Ok(root.path().to_owned())
    }
}

/// The clients whose own files are known: what they load by themselves is not delivered again.
pub(crate) fn client_names() -> PossibleValuesParser {
    PossibleValuesParser::new(native::CLIENTS)
}

/// How tokens are counted.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct Counting {
    /// Count tokens exactly, for the o200k vocabulary, instead of estimating them
    #[arg(long)]
    pub(crate) exact: bool,
}

impl Counting {
    /// Returns what counts. It writes nothing into the project at `root`.
    pub(crate) fn counter<'s>(self, session: &'s Session, root: &Root) -> Counter<'s> {
        if self.exact {
            Counter::exact(session.system()).outside(root.path())
        } else {
            Counter::estimate()
        }
    }
}

/// What a look at a whole project takes, and how it is printed.
#[derive(Debug, Args)]
pub(crate) struct Looking {
    /// Only this dialect; may be given several times
    #[arg(long, value_name = "DIALECT")]
    pub(crate) only: Vec<DialectArg>,

    #[command(flatten)]
    pub(crate) counting: Counting,

    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// What an answer may cost.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct Cost {
    /// Cut what is most general until the rest costs at most N tokens
    #[arg(long, value_name = "N")]
    pub(crate) budget: Option<usize>,

    #[command(flatten)]
    pub(crate) counting: Counting,
}

impl Cost {
    /// Cuts the answer if need be, and returns how many items that took.
    pub(crate) fn fit(self, answer: &mut Resolution<'_>, counter: &Counter<'_>) -> usize {
        let before = answer.items.len();
        if let Some(budget) = self.budget {
            budget::fit(answer, budget, &|text| counter.count(text));
        }
        before - answer.items.len()
    }
}

/// Which guidance to look at, and from where.
#[derive(Debug, Args)]
pub(crate) struct Reach {
    /// Only this dialect; may be given several times
    #[arg(long, value_name = "DIALECT")]
    only: Vec<DialectArg>,

    /// The directory that the client has open, for `.context` and client files [default: the root]
    #[arg(long, value_name = "DIR")]
    mounted: Option<PathBuf>,

    /// What the user mentions by name; may be given several times
    #[arg(
        long = "mention", value_name = "NAME",
        add = clap_complete::ArgValueCompleter::new(crate::complete::mentions)
    )]
    mentions: Vec<String>,

    /// The client that asks: what it loads by itself is left out
    #[arg(long, value_name = "NAME", value_parser = client_names())]
    client: Option<String>,

    #[command(flatten)]
    started: Started,

    /// The task that is being worked on: some rules are for some tasks only
    #[arg(
        long, value_name = "NAME",
        add = clap_complete::ArgValueCompleter::new(super::task::complete)
    )]
    task: Option<String>,

    /// Of rules, only what is for KEY=VALUE, or for every KEY
    #[arg(short = 's', long = "select", value_name = "KEY=VALUE")]
    selectors: Vec<String>,

    /// What `includeFiles` patterns of `.context` are relative to
    #[arg(long, value_name = "DIRECTORY", default_value = "working")]
    anchor: AnchorArg,

    /// Let a project's `includeFiles` patterns leave the mounted directory
    #[arg(long)]
    outside: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum AnchorArg {
    /// The working directory, as the specification says
    Working,
    /// The directory that owns the configuration
    Config,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DialectArg {
    /// `AGENTS.yaml` files
    Structured,
    /// `.context` directories
    Hosted,
    /// Files that clients read by themselves, such as `CLAUDE.md`
    Native,
    /// Tasks, rules, commands and skills in `.agents`
    Tasks,
    /// `*.agent.md` files
    Agents,
    /// Portable rules, skills, agents and bundles
    Portable,
}

impl DialectArg {
    pub(crate) fn name(self) -> &'static str {
        match self {
            DialectArg::Structured => structured::NAME,
            DialectArg::Hosted => hosted::NAME,
            DialectArg::Native => native::NAME,
            DialectArg::Tasks => tasks::NAME,
            DialectArg::Agents => agents::NAME,
            DialectArg::Portable => portable::NAME,
        }
    }

    /// What its files are called.
    fn noun(self) -> &'static str {
        match self {
            DialectArg::Structured => "AGENTS.yaml files",
            DialectArg::Hosted => ".context files",
            DialectArg::Native => "client files",
            DialectArg::Tasks => "task files",
            DialectArg::Agents => "agent files",
            DialectArg::Portable => "portable items",
        }
    }
}

impl Reach {
    /// Every dialect, nothing mentioned.
    pub(crate) const EVERYTHING: Reach = Reach {
        only: Vec::new(),
        mounted: None,
        mentions: Vec::new(),
        client: None,
        started: Started::HERE,
        task: None,
        selectors: Vec::new(),
        anchor: AnchorArg::Working,
        outside: false,
    };

    /// Only one dialect, nothing mentioned.
    pub(crate) fn only(dialect: DialectArg) -> Reach {
        Reach { only: vec![dialect], ..Reach::EVERYTHING }
    }

    /// Every dialect, for a client that was started somewhere.
    pub(crate) fn started_at(started: &Started) -> Reach {
        Reach { started: started.clone(), ..Reach::EVERYTHING }
    }

    /// Returns the client that asks.
    pub(crate) fn client(&self) -> Option<&str> {
        self.client.as_deref()
    }

    /// Returns who asks for what, whatever the path.
    pub(crate) fn moment(&self, session: &Session) -> Result<Moment, CommandError> {
        let Reach { client, started, task, mentions, selectors, .. } = self;
        Ok(Moment {
            client: client.clone(),
            started: Some(started.directory(session)?),
            task: task.clone(),
            selectors: read_selectors(selectors)?,
            mentions: mentions.clone(),
            ..Moment::default()
        })
    }

    /// Sets the directory that the client has open.
    pub(crate) fn mounted_at(self, mounted: Option<PathBuf>) -> Reach {
        Reach { mounted, ..self }
    }

    fn hosted(&self) -> hosted::Options {
        hosted::Options {
            anchor: match self.anchor {
                AnchorArg::Working => hosted::Anchor::WorkingDirectory,
                AnchorArg::Config => hosted::Anchor::ConfigDirectory,
            },
            outside: if self.outside { hosted::Outside::Allow } else { hosted::Outside::Refuse },
            ..hosted::Options::default()
        }
    }

    pub(crate) fn names(&self) -> Vec<&'static str> {
        self.only.iter().map(|dialect| dialect.name()).collect()
    }

    /// What there may be none of.
    fn sought(&self) -> &'static str {
        match self.only[..] {
            [only] => only.noun(),
            _ => "guidance",
        }
    }

    fn has(&self, dialect: DialectArg) -> bool {
        self.only.is_empty() || self.only.contains(&dialect)
    }

    /// The mounted directory: what was said, or the root, which is the repository.
    fn mounted(&self, session: &Session, root: &Root) -> PathBuf {
        match &self.mounted {
            Some(mounted) => session.directory().join(mounted),
            None => root.path().to_owned(),
        }
    }
}

/// Reads what was typed after `-s`.
pub(crate) fn read_selectors(typed: &[String]) -> Result<Selectors, CommandError> {
    let mut selectors = Selectors::default();
    for text in typed {
        selectors.add_text(text).map_err(|error| {
            CommandError::usage(error.to_string()).with_hint("write `-s key=value`")
        })?;
    }
    Ok(selectors)
}

/// None named means all.
pub(crate) fn dialects<'d>(only: &'d [&'d str]) -> Dialects<'d> {
    if only.is_empty() { Dialects::All } else { Dialects::Only(only) }
}

/// What was typed, before it is looked up.
pub(crate) struct Question<'q> {
    /// The path; `None` for the whole project.
    pub(crate) path: Option<&'q Path>,
    pub(crate) action: Option<Action>,
    pub(crate) timing: Option<Timing>,
    pub(crate) reach: &'q Reach,
}

/// A question that can be answered.
pub(crate) struct Asked {
    pub(crate) root: Root,
    pub(crate) moment: Moment,
    /// The path as it was typed, for commands to type next.
    typed: Option<String>,
    pub(crate) catalog: Catalog,
    /// Whether the path lies outside the root, which was said already.
    is_outside: bool,
    /// What was looked for, for when there is none.
    sought: &'static str,
}

impl Question<'_> {
    /// Reads what the answer needs. The root is the repository, wherever in it the question is asked
    /// (ruling G16). A path outside the root gets nothing from it.
    pub(crate) fn ask(
        self,
        ui: &mut Ui,
        session: &Session,
    ) -> Result<&'static Asked, CommandError> {
        let session = &session.remembering();
        let moment = self.reach.moment(session)?;
        let root = session.repository()?;
        let mut is_outside = false;
        let (target, catalog) = match self.path {
            Some(path) => {
                let target = session.locate(&root, path);
                if target.is_none() && self.reach.has(DialectArg::Structured) {
                    is_outside = true;
                    let (path, place) = (path.display(), root.path().display());
                    ui.warning(&format!("`{path}` is outside `{place}`; no AGENTS.yaml applies"))?;
                }
                let catalog = self.read(session, &root, target.as_ref(), path);
                let typed = || Target::from_slashed(&path.to_string_lossy(), TargetKind::File);
                (Some(target.unwrap_or_else(typed)), catalog)
            }
            None => {
                let top = Session::top();
                let only = self.reach.names();
                let dialects = dialects(&only);
                let scope = Scope { start: &top, ignored: Ignored::Skip, dialects };
                (None, Catalog::whole(session.system(), &root, scope))
            }
        };
        let moment = Moment { target, action: self.action, timing: self.timing, ..moment };
        let sought = self.reach.sought();
        // The program answers one question and ends; giving a large catalog back piece by piece
        // would only take time.
        let typed = self.path.map(|path| path.display().to_string());
        Ok(Box::leak(Box::new(Asked { root, moment, typed, catalog, is_outside, sought })))
    }

    fn read(
        &self,
        session: &Session,
        root: &Root,
        target: Option<&Target>,
        path: &Path,
    ) -> Catalog {
        let path = session.directory().join(path);
        let mounted = self.reach.mounted(session, root);
        let mentions = &self.reach.mentions;
        let question = brief_engine::Question {
            root,
            target,
            path: &path,
            mounted: &mounted,
            mentions,
            hosted: self.reach.hosted(),
        };
        Catalog::about(session.system(), &question, dialects(&self.reach.names()))
    }
}

impl Asked {
    /// Prints the answer of the command `kind` as JSON. That there is no context file is said on the side.
    pub(crate) fn print_json(
        &self,
        ui: &mut Ui,
        kind: &'static str,
        resolution: &Resolution<'_>,
        diagnostics: &[Diagnostic],
        counter: &Counter<'_>,
    ) -> Result<(), CommandError> {
        if self.catalog.is_empty() && !self.is_outside {
            self.warn_of_no_file(ui)?;
        }
        let count = |text: &str| counter.count(text);
        let root = self.root.path();
        let body = Report::new(root, &self.moment, resolution).counted_by(&count);
        ui.print_json(&Envelope { kind, root, diagnostics, body })?;
        Ok(())
    }

    fn path(&self) -> Option<&str> {
        let path = self.moment.target.as_ref().map(brief_engine::Target::slashed);
        path.map(|path| if path.is_empty() { "." } else { path })
    }

    fn warn_of_no_file(&self, ui: &mut Ui) -> Result<(), CommandError> {
        let place = self
            .path()
            .map_or("in this project".to_owned(), |path| format!("on the way to {path}"));
        ui.warning(&format!("no {} found {place}", self.sought))?;
        if matches!(self.sought, "guidance" | "AGENTS.yaml files") {
            ui.hint("`brief init` writes an AGENTS.yaml to start from")?;
        }
        Ok(())
    }

    /// Says what had to go, and where to see it.
    pub(crate) fn mention_cuts(
        &self,
        ui: &mut Ui,
        cut: usize,
        cost: Cost,
    ) -> Result<(), CommandError> {
        let Some(budget) = cost.budget.filter(|_| cut > 0) else { return Ok(()) };
        let exact = if cost.counting.exact { " --exact" } else { "" };
        let items = if cut == 1 { "1 item was".to_owned() } else { format!("{cut} items were") };
        let way = match &self.typed {
            Some(path) => format!("`brief why {path} --budget {budget}{exact}` shows what"),
            None => "`--json` shows what, under left_out".to_owned(),
        };
        ui.status(&format!("{items} cut to fit into {budget} tokens; {way}"))?;
        Ok(())
    }

    /// Says why there is nothing to print.
    pub(crate) fn explain_nothing(
        &self,
        ui: &mut Ui,
        what: &str,
        hint: WhyHint,
    ) -> Result<(), CommandError> {
        if self.is_outside {
            return Ok(());
        }
        if self.catalog.is_empty() {
            return self.warn_of_no_file(ui);
        }
        let Some(path) = self.path() else {
            return Ok(ui.status(&format!("no {what} in this project"))?);
        };
        ui.status(&format!("no {what} for {path}"))?;
        if let Some(why) = self.typed.as_ref().filter(|_| hint == WhyHint::Given) {
            ui.hint(&format!("`brief why {why}` shows each entry and why it does not apply"))?;
        }
        Ok(())
    }
}

/// Whether `brief why` would say more: who has just run it knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WhyHint {
    /// It would.
    Given,
    /// It was just run.
    Left,
}

/// Returns a place as people read it: relative to the root, if it lies there.
pub(crate) fn shown_place(root: &Root, path: &Path, line: usize) -> String {
    format!("{}:{line}", path.strip_prefix(root.path()).unwrap_or(path).display())
}

/// The path of a command that can also list everything.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct PathOrAll {
    /// The file or directory to ask about; it need not exist yet, and a trailing `/` means a directory
    pub(crate) path: Option<PathBuf>,

    /// List what the whole project says, whatever the patterns
    #[arg(long)]
    pub(crate) all: bool,
}
