//! The keys of a client's file.
//!
//! The same types hold a client that is built in, as a constant, and one that is read at run time. The build
//! script includes this module with its files, so they see nothing but `serde` and the standard library.

pub(crate) mod constant;
pub(crate) mod hook;
pub(crate) mod loading;
pub(crate) mod output;
pub(crate) mod permissions;
pub(crate) mod places;
pub(crate) mod transcripts;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny};

use constant::{List, Text, list, text};
use hook::HookProfile;
use loading::{Attaches, Loading, PassedOverFacts};
use output::ItemOutput;
use permissions::PermissionProfile;
use transcripts::TranscriptProfile;

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Client {
    /// The name on our command line and in items: `claude`.
    pub id: Text,
    /// The name for people: `Claude Code`.
    pub name: Text,
    /// Other names on our command line.
    pub aliases: List<Text>,
    /// The client whose compiled items it finds.
    pub items_of: Option<Text>,
    /// The version and the day that its facts were seen in.
    pub seen: Seen,
    /// Files and directories that only a project with this client has, below the project.
    pub signs: List<Text>,
    /// The same below a user's home directory.
    pub home_signs: List<Text>,
    /// The files of a project that name the files that it leaves alone, in the style of `.gitignore`.
    pub ignores: List<Text>,
    /// The places of a project that it loads by itself.
    pub reads: List<ClientRead>,
    /// The places below the home directory that it loads by itself.
    pub home_reads: List<ClientRead>,
    /// The way in which it loads them.
    #[serde(default)]
    pub loading: Loading,
    /// Its directories in a project, to tell the files that no client reads.
    pub directories: List<ClientDirectory>,
    /// The place of portable rules.
    pub rule: Option<ItemOutput>,
    /// The place of portable skills.
    pub skill: Option<ItemOutput>,
    /// The place of portable agents.
    pub agent: Option<ItemOutput>,
    /// The place of portable commands.
    pub command: Option<ItemOutput>,
    pub(crate) bridge: Option<ForCompiler>,
    pub(crate) tools: Option<ForCompiler>,
    pub(crate) models: Option<ForCompiler>,
    pub(crate) unnamed: Option<ForCompiler>,
    pub(crate) format: Option<ForCompiler>,
    /// The place of MCP servers.
    pub mcp: Option<ServerProfile>,
    pub permissions: Option<PermissionProfile>,
    /// The kinds that have no place, with the reason.
    pub lacks: List<MissingKind>,
    /// The files that `brief task` writes rules to.
    pub task: Option<TaskRules>,
    pub hook: Option<HookProfile>,
    /// Its own records of conversations.
    pub transcripts: Option<TranscriptProfile>,
    /// The text of the file, of a client with outputs: the compiler reads its own keys from there, as it reads
    /// those of a project's `brief.toml`. A client that is built in has no others in it.
    #[serde(skip)]
    pub source: Option<Text>,
}

/// A kind of guidance that is not written for a client.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct MissingKind {
    /// The kind: `rules`, `skills`, `agents`, `commands`, `servers` or `permissions`.
    pub kind: Text,
    pub reason: Text,
}

/// A key that the compiler reads (`brief_clients::profile`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ForCompiler;

impl<'de> Deserialize<'de> for ForCompiler {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<ForCompiler, D::Error> {
        IgnoredAny::deserialize(deserializer).map(|_| ForCompiler)
    }
}

impl Client {
    /// The keys of a client's file that the compiler reads.
    pub const COMPILED_KEYS: [&str; 14] = [
        "id",
        "name",
        "profile",
        "rule",
        "skill",
        "agent",
        "command",
        "bridge",
        "tools",
        "models",
        "unnamed",
        "signs",
        "home-signs",
        "format",
    ];

    /// Returns where items are written, in the order of the kinds: rule, skill, agent, command.
    pub fn outputs(&self) -> impl Iterator<Item = &ItemOutput> {
        [&self.rule, &self.skill, &self.agent, &self.command].into_iter().flatten()
    }

    /// Returns whether the document of the portable format is about the client: items are compiled for it
    /// where nothing says for which.
    pub fn is_usual(&self) -> bool {
        self.format.is_some()
    }

    /// Returns whether some of its files are loaded with a read alone.
    pub fn attaches_by_read(&self) -> bool {
        self.loading.attaches != Attaches::OnAnyAction
            || self.reads.iter().any(|read| read.attaches.is_some())
    }

    /// Returns the name or alias that is `name`.
    pub fn find_name(&self, name: &str) -> Option<&str> {
        std::iter::once(&self.id).chain(&self.aliases).map(|own| &**own).find(|own| *own == name)
    }
}

/// The evidence for the facts about a client.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Seen {
    pub version: Option<Text>,
    pub date: Text,
    /// The place where they were seen.
    pub how: Evidence,
}

/// The place where facts about a client were seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Evidence {
    /// In recorded requests of that version.
    Run,
    /// In its documentation or its source.
    Documents,
}

/// A place that a client reads.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(from = "ReadEntry")]
pub struct ClientRead {
    /// The path below the directory that it is about; `/` at its end where a file may have the same name.
    pub path: Text,
    /// The position of the place's directory.
    pub seats: Seats,
    /// The files that keep the client from reading it.
    pub unless: Unless,
    /// The moment at which the client uses the files there.
    pub scoping: Scoping,
    /// The action on a file that loads what is nested there, where it is another than the client's.
    pub attaches: Option<Attaches>,
    /// The files there that it passes over.
    pub passes_over: Option<PassedOverFacts>,
    /// The first version that reads it; `None` for every version that our facts are about.
    pub since: Option<SinceVersion>,
    /// The kind of file that lies there, if this client says so.
    pub facts: Option<Box<PlaceFacts>>,
}

/// The first version of a client that does something by itself which `brief` does for earlier ones.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct SinceVersion {
    pub version: Text,
    pub seen: Seen,
}

/// The keys of a place.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct ReadEntry {
    path: Text,
    #[serde(default = "Seats::start")]
    seats: Seats,
    #[serde(default)]
    unless: Unless,
    #[serde(default)]
    scoping: Scoping,
    attaches: Option<Attaches>,
    passes_over: Option<PassedOverFacts>,
    since: Option<SinceVersion>,
    form: Option<Form>,
    #[serde(default)]
    file: bool,
    endings: List<Text>,
    #[serde(default)]
    deep: bool,
    skipped: List<Text>,
    look_alike: Option<Text>,
    rank: Option<u16>,
}

impl From<ReadEntry> for ClientRead {
    fn from(entry: ReadEntry) -> ClientRead {
        let ReadEntry { path, seats, unless, scoping, attaches, form, file, endings, .. } = entry;
        let ReadEntry { deep, skipped, look_alike, rank, passes_over, since, .. } = entry;
        let facts = PlaceFacts { form, file, endings, deep, skipped, look_alike, rank };
        let facts = (facts != PlaceFacts::default()).then(|| Box::new(facts));
        ClientRead { path, seats, unless, scoping, attaches, passes_over, since, facts }
    }
}

/// The kind of file that lies at a place. One of the clients that read it says so; without, the name tells.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PlaceFacts {
    /// The form of files there.
    pub form: Option<Form>,
    /// True if it is one file, where files of its form usually lie in a directory.
    pub file: bool,
    /// The endings of the names of files in the directory; without, `.md`.
    pub endings: List<Text>,
    /// True if directories in it are entered.
    pub deep: bool,
    /// The directories in it that are not entered.
    pub skipped: List<Text>,
    /// The ending of a name that looks right and is not read.
    pub look_alike: Option<Text>,
    /// The rank among the places of one directory in an answer: lower numbers come first, and places
    /// without one last, by path.
    pub rank: Option<u16>,
}

/// The form of a file, which decides when it applies. Each form is code: `brief_dialects::native::parse`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// Plain text for everything below its directory.
    Instructions,
    /// Plain text of one client, for everything below its directory.
    Legacy,
    Claude,
    Cursor,
    Copilot,
    /// `paths`, and text when the YAML is not valid.
    Cline,
    Windsurf,
    Augment,
    /// `paths`: a list, or one text.
    Qwen,
    Continue,
    Kiro,
    /// Text, for everything below its directory.
    Plain,
    Skill,
    Agent,
}

/// The position of a directory, seen from the one that the client was started in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seat {
    /// It is the start directory, and the root.
    Root = 1,
    /// It is the start directory, somewhere below the root.
    Start = 2,
    /// It is the root, and the start directory is below it.
    Top = 4,
    /// It lies between the root and the start directory.
    Between = 8,
    /// It is below the start directory.
    Below = 16,
    Beside = 32,
}

impl Seat {
    /// Returns whether what lies there can be loaded before any file is worked on.
    pub fn is_at_start(self) -> bool {
        !matches!(self, Seat::Below | Seat::Beside)
    }
}

/// A set of [`Seat`]s. A file writes it as a list of [`SeatWord`]s.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(from = "Vec<SeatWord>")]
pub struct Seats(pub(crate) u8);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SeatWord {
    /// The directory that the client was started in.
    Start,
    /// The root of the repository.
    Root,
    /// The directories between these two.
    Between,
    Up,
    /// Every directory below the start directory, once a file there is worked on.
    Below,
    /// Every other directory, once a file there is worked on.
    Elsewhere,
}

impl From<Vec<SeatWord>> for Seats {
    fn from(words: Vec<SeatWord>) -> Seats {
        let seats = |word: &SeatWord| match word {
            SeatWord::Start => Seat::Root as u8 | Seat::Start as u8,
            SeatWord::Root => Seat::Root as u8 | Seat::Top as u8,
            SeatWord::Between => Seat::Between as u8,
            SeatWord::Up => Seats::UP.0,
            SeatWord::Below => Seat::Below as u8,
            SeatWord::Elsewhere => Seat::Beside as u8,
        };
        Seats(words.iter().map(seats).fold(0, |all, one| all | one))
    }
}

impl Seats {
    pub const START: Seats = Seats(Seat::Root as u8 | Seat::Start as u8);
    /// Every directory from the root down to the start directory.
    pub const UP: Seats = Seats(Seats::START.0 | Seat::Top as u8 | Seat::Between as u8);
    /// These, and every directory below the start directory.
    pub const UP_AND_BELOW: Seats = Seats(Seats::UP.0 | Seat::Below as u8);

    fn start() -> Seats {
        Seats::START
    }

    /// Returns the seats of both sets.
    #[must_use]
    pub fn union(self, other: Seats) -> Seats {
        Seats(self.0 | other.0)
    }

    /// Returns whether all seats of another set are in this one.
    pub fn contains_all(self, other: Seats) -> bool {
        self.0 & other.0 == other.0
    }

    /// Returns whether a seat is in the set.
    pub fn contains(self, seat: Seat) -> bool {
        self.0 & seat as u8 != 0
    }
}

/// The files that keep a client from reading a place.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unless {
    #[default]
    Never,
    /// The places before it in the client's list, in the same directory.
    Earlier,
    /// One of these in the same directory.
    Beside(List<Text>),
    /// One of these in the same directory, which takes its place.
    ReplacedBy(List<Text>),
    /// One of these in any directory from the root to the start directory, or in the same one.
    AtStartOrBeside(List<Text>),
    /// One of these in any directory from the root to the start directory; for a directory below, in the
    /// same one.
    AtStartElseBeside(List<Text>),
}

impl Unless {
    /// Returns the paths that it names.
    pub fn paths(&self) -> &[Text] {
        match self {
            Unless::Never | Unless::Earlier => &[],
            Unless::Beside(paths)
            | Unless::ReplacedBy(paths)
            | Unless::AtStartOrBeside(paths)
            | Unless::AtStartElseBeside(paths) => paths,
        }
    }
}

/// The moment at which a client uses the files of a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scoping {
    /// As the file's own format says.
    #[default]
    Own,
    /// Always: it does not know the fields.
    Ignored,
    /// Only what has no scope.
    Unscoped,
    /// By its patterns as Copilot's command line matches them, seen from the root; without, always.
    CopilotCli,
}

/// A directory of a client, and the files in it that the client reads.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ClientDirectory {
    /// The path below the project.
    pub path: Text,
    /// The endings of the names of files that are read, at any depth.
    #[serde(default = "markdown")]
    pub endings: List<Text>,
    /// The endings of files that look as if they should be read.
    pub meant: List<Text>,
    /// True if it holds directories with a `SKILL.md` each.
    #[serde(default)]
    pub skills: bool,
    /// The reason why nothing in it is read.
    pub unread: Option<Text>,
    /// The way out, with `unread`.
    pub help: Option<Text>,
}

fn markdown() -> List<Text> {
    list(const { &[text(".md")] })
}

/// The place of a client's MCP servers, and the name of each field there.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ServerProfile {
    /// The version and the day that a client was seen to start our server and to call it, where it is not the
    /// client's.
    pub seen: Option<Seen>,
    /// The name that servers of the file are shown with, where it is not the client's.
    pub known_as: Option<Text>,
    /// The file in a project that it reads them from; none where it reads the user's alone.
    pub file: Option<Text>,
    /// Other names of that file; one that is there is used when the usual one is not.
    pub or: List<Text>,
    /// The file below a user's home directory; none where the client rewrites it whenever it runs.
    pub home_file: Option<Text>,
    /// Other names of that file. Without a `home-file` they are read, and never written.
    pub home_or: List<Text>,
    /// The key of the user's file that holds a table for each project, by its path, with servers for that one.
    pub home_projects: Option<Text>,
    /// The format of the file.
    #[serde(default)]
    pub format: ServerFormat,
    /// The key that holds the servers.
    pub key: Text,
    /// The key that is `false` for a server that is switched off; without one, such a server is left out.
    pub disabled_by: Option<Text>,
    /// The opening of a text that the client replaces by the content of a file.
    pub inserts_files: Option<Text>,
    /// The fields of a program to start. A client without them is only read.
    pub stdio: List<ServerField>,
    /// The fields of a server over streamable HTTP.
    pub http: List<ServerField>,
    /// The fields of a server over server-sent events; none when the client has no such thing.
    pub sse: List<ServerField>,
}

/// The format of a file of MCP servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ServerFormat {
    #[default]
    Json,
    /// TOML, one table per server.
    Toml,
}

/// One field of an MCP server.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ServerField {
    /// Its name in the client's file.
    pub key: Text,
    /// The origin of its value.
    pub from: ServerValue,
}

/// The origin of a field's value. Empty lists and maps are left out.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ServerValue {
    /// The same for every server.
    Constant(Text),
    /// The same list of one for every server.
    ConstantList(Text),
    Command,
    /// The program and its arguments as one list.
    CommandLine,
    Args,
    Env,
    /// The names of the variables that the client hands on: those that say `NAME = "${NAME}"`.
    HandedOn,
    /// The environment without them, for a client that fills in no variables.
    FixedEnv,
    Url,
    Headers,
}

/// The files that `brief task` writes rules for a client to.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct TaskRules {
    /// The place of the client in the document's list of agents.
    pub order: u8,
    /// The file in a project.
    pub rules: Text,
    /// The beginning of a new file there.
    #[serde(default = "nothing")]
    pub begins: Text,
    /// The file below the home directory.
    pub home_rules: Text,
}

fn nothing() -> Text {
    text("")
}
