//! The MCP servers that a project configures, as far as the user lets them start.
//!
//! They come from `context-config.json` (merged by its document's rule, the nearest first), from clients' own files at the
//! top of the project, from tasks and rules (`mcp_server`), and from clients' own files in the home directory, in that order;
//! of two with one name, the first counts. The user's own start without a question. Those of a project need its trust, because they are programs, and because an
//! address gets the header fields that are written for it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use brief_clients::mcp::{Protocol, Transport, parse_servers, server_files};
use brief_clients::profile::ProfileScope;
use brief_dialects::hosted;
use brief_dialects::mcp::{Connection, McpServer, ServerKind};
use brief_engine::Project;
use brief_engine::tasks::{TaskDocument, TaskFileKind};
use brief_mcp_client::{RemoteProtocol, RemoteServer, ServerAddress, ServerProgram, ToolDecisions};
use brief_runtime::consent::{Content, Objection};
use brief_runtime::trust::TrustVerdict;
use brief_runtime::{Consent, Execution, ProjectRefusal, TrustError, TrustStore, Wish, project_of};
use brief_safety::policy::PolicyError;
use brief_syntax::limits;
use brief_system::{ReadError, System, home_directory};

use super::{GatewayServer, offline_library};

/// The variable that a gateway sets for the servers that it starts. One that is started by another would start
/// itself without end.
const INSIDE: &str = "BRIEF_GATEWAY";

/// The servers to start, and the problems of others.
#[derive(Debug, Default)]
pub struct ProjectServers {
    /// The servers, in the order in which they count.
    pub servers: Vec<GatewayServer>,
    /// Messages about servers that are not started.
    pub problems: Vec<String>,
}

/// The wanted servers of a project.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ServerSearch<'s> {
    /// True to start the project's servers although it is not trusted.
    pub is_allowed: bool,
    /// A client whose own files are left out, because it starts those servers itself.
    pub without: Option<&'s str>,
}

/// Servers that do not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GatewayError {
    /// The directory cannot be opened.
    #[error("cannot open directory: {0}")]
    Directory(#[source] std::io::Error),
    /// A policy cannot be read.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    #[error("servers not started: {0} disables execution")]
    Off(String),
    /// The project is not trusted.
    #[error("servers not started ({}): {refusal}", names.join(", "))]
    Untrusted {
        refusal: ProjectRefusal,
        /// The names of the servers.
        names: Vec<String>,
    },
    /// The record of what the user has accepted cannot be used.
    #[error("servers not started: {0}")]
    Record(#[source] TrustError),
    /// Another gateway has started this one.
    #[error("cannot start a gateway inside another gateway")]
    Inside,
}

impl GatewayError {
    /// Returns the project to trust, if that would help.
    pub fn trust_hint(&self) -> Option<&Path> {
        match self {
            GatewayError::Untrusted { refusal, .. } => Some(&refusal.root),
            _ => None,
        }
    }
}

/// A server in a file.
struct ServerCandidate {
    name: String,
    address: ServerAddress,
    disabled: bool,
    /// The file, and its line for people.
    file: PathBuf,
    place: String,
    /// The task or rule that it stands in; it is judged by its author.
    document: Option<TaskDocument>,
}

/// Returns the servers of the project around a directory that the user lets start.
pub fn project_servers(
    system: &dyn System,
    directory: &Path,
    search: ServerSearch<'_>,
) -> Result<ProjectServers, GatewayError> {
    if system.env(INSIDE).is_some() {
        return Err(GatewayError::Inside);
    }
    let project = Project::open(system, directory).map_err(GatewayError::Directory)?;
    let wish = search.is_allowed.then_some(Wish::Execute);
    let execution = Execution::under_policy(system, wish.as_ref())?;
    let mut found = ProjectServers::default();
    let candidates = collect_candidates(&project, directory, search, &mut found.problems);
    if candidates.is_empty() {
        return Ok(found);
    }
    if let Some(off) = execution.off_reason() {
        return Err(GatewayError::Off(off.to_string()));
    }
    let decided = Decided::read(system, directory)?;
    let mut consent = Consent::new(system, directory, execution);
    let (mut refused, mut names) = (None, Vec::new());
    let mut known: BTreeMap<String, (String, ServerAddress)> = BTreeMap::new();
    for candidate in candidates {
        let ServerCandidate { name, address, place, disabled, .. } = &candidate;
        // The nearest decides, also when it only switches off.
        if let Some((first, same)) = known.get(name) {
            if same != address {
                let message =
                    format!("skipped `{name}` in {place}: {first} defines a server of that name");
                found.problems.push(message);
            }
            continue;
        }
        known.insert(name.clone(), (place.clone(), address.clone()));
        if *disabled {
            continue;
        }
        match is_agreed(system, directory, &mut consent, &candidate) {
            Ok(()) => {
                let ServerCandidate { name, address, place, file, .. } = candidate;
                let decisions = decided.tool_decisions(&file, &name);
                let address = add_gateway_variable(address);
                found.servers.push(GatewayServer { name, place, address, decisions });
            }
            Err(ServerRefusal::Project(refusal)) => {
                found.problems.push(format!("server `{name}` in {place} not started: {refusal}"));
                refused.get_or_insert(refusal);
                names.push(format!("`{name}`"));
            }
            Err(ServerRefusal::Other(reason)) => {
                found.problems.push(format!("server `{name}` in {place} not started: {reason}"));
            }
        }
    }
    match refused {
        Some(refusal) if found.servers.is_empty() => {
            Err(GatewayError::Untrusted { refusal, names })
        }
        _ => Ok(found),
    }
}

/// The hashes that the user has decided about.
#[derive(Default)]
struct Decided(Vec<(TrustVerdict, String)>);

impl Decided {
    fn read(system: &dyn System, directory: &Path) -> Result<Decided, GatewayError> {
        match TrustStore::open(system, directory) {
            Ok(store) => {
                let entries = store.entries().map(|entry| (entry.verdict, entry.hash.to_string()));
                Ok(Decided(entries.collect()))
            }
            Err(TrustError::NoPlace) => Ok(Decided::default()),
            Err(error) => Err(GatewayError::Record(error)),
        }
    }

    fn tool_decisions(&self, file: &Path, server: &str) -> ToolDecisions {
        let of = |wanted: TrustVerdict| {
            let entries = self.0.iter().filter(move |(verdict, _)| *verdict == wanted);
            entries.map(|(_, hash)| hash.as_str())
        };
        let origin = format!("{}#{server}", file.display());
        ToolDecisions::new(origin, of(TrustVerdict::Trusted), of(TrustVerdict::Denied))
    }
}

/// The reason why a server does not start.
enum ServerRefusal {
    Project(ProjectRefusal),
    Other(String),
}

/// Decides whether the user has agreed that a server starts.
fn is_agreed(
    system: &dyn System,
    directory: &Path,
    consent: &mut Consent<'_>,
    candidate: &ServerCandidate,
) -> Result<(), ServerRefusal> {
    if let Some(document) = &candidate.document {
        let text = Content::Document(&document.source);
        return consent.check_content(document.author, &document.root, text).map_err(|objection| {
            match objection {
                Objection::Project(refusal) => ServerRefusal::Project(refusal),
                Objection::Denied => ServerRefusal::Other("its file is denied".to_owned()),
                Objection::Content => ServerRefusal::Other("its file is not trusted".to_owned()),
                Objection::Off => ServerRefusal::Other("execution is disabled".to_owned()),
            }
        });
    }
    match project_of(system, directory, &candidate.file) {
        Ok(Some(root)) => consent.check_project(&root).map_err(ServerRefusal::Project),
        Ok(None) => Ok(()),
        Err(error) => Err(ServerRefusal::Other(error.to_string())),
    }
}

/// Lets a program know that a gateway has started it.
fn add_gateway_variable(address: ServerAddress) -> ServerAddress {
    match address {
        ServerAddress::Program(mut program) => {
            program.env.push((INSIDE.to_owned(), "1".to_owned()));
            ServerAddress::Program(program)
        }
        remote @ ServerAddress::Remote(_) => remote,
    }
}

/// Returns the servers of all files, in the order in which they count.
fn collect_candidates(
    project: &Project<'_>,
    directory: &Path,
    search: ServerSearch<'_>,
    problems: &mut Vec<String>,
) -> Vec<ServerCandidate> {
    let root = project.root().path();
    let shown = |file: &Path, line: usize| {
        format!("{}:{line}", file.strip_prefix(root).unwrap_or(file).display())
    };
    let briefing = project.briefing(PathBuf::from(".")).only([hosted::NAME]).resolve();
    let hosted = briefing.mcp_servers.into_iter().map(|configured| {
        let file = configured.origin.path().to_owned();
        ServerCandidate {
            place: shown(&file, configured.origin.line()),
            disabled: configured.server.disabled,
            address: address_of(configured.server),
            name: configured.name,
            file,
            document: None,
        }
    });
    let mut all: Vec<ServerCandidate> = hosted.collect();
    let mut of_clients = |base: &Path, scope: ProfileScope| {
        let Ok(top) = project.system().open_dir(base) else { return Vec::new() };
        let files = server_files(scope).filter(|file| search.without != Some(file.owner));
        let found = files.flat_map(|file| {
            let found = match top.read_below(Path::new(file.path), limits::FILE_BYTES) {
                Ok(bytes) => parse_servers(&file, &String::from_utf8_lossy(&bytes), root),
                Err(ReadError::Missing) => Ok(Vec::new()),
                Err(error) => Err(error.to_string()),
            };
            let found = found.unwrap_or_else(|problem| {
                problems.push(format!("cannot read {}: {problem}", file.display_path()));
                Vec::new()
            });
            let path = base.join(file.path);
            found.into_iter().map(move |found| (path.clone(), found))
        });
        let candidates = found.map(|(path, found)| ServerCandidate {
            place: shown(&path, found.line),
            disabled: found.server.disabled,
            address: transport_address(found.server.transport),
            name: found.server.name,
            file: path,
            document: None,
        });
        candidates.collect()
    };
    all.extend(of_clients(root, ProfileScope::Project));
    let home = home_directory(project.system());
    let at_home = home.map(|home| of_clients(&home, ProfileScope::Home)).unwrap_or_default();
    all.extend(collect_task_documents(project.system(), directory).into_iter().filter_map(
        |document| {
            let (server, line) = document.mcp_server()?;
            Some(ServerCandidate {
                name: document.stem.clone(),
                place: shown(document.path(), line),
                disabled: server.disabled,
                address: address_of(server),
                file: document.path().to_owned(),
                document: Some(document),
            })
        },
    ));
    all.extend(at_home);
    // `brief mcp install` has written it: it would be this very server again.
    all.retain(|candidate| !is_ourselves(&candidate.address));
    all
}

/// Returns the tasks and rules of the project and of the user.
fn collect_task_documents(system: &dyn System, directory: &Path) -> Vec<TaskDocument> {
    let Some(library) = offline_library(system, directory) else { return Vec::new() };
    let mut documents = library.all_tasks();
    documents.extend(library.read_documents(TaskFileKind::Rule, None, &|_| true));
    documents
}

/// Returns whether a client would start this server by it.
fn is_ourselves(address: &ServerAddress) -> bool {
    let ServerAddress::Program(program) = address else { return false };
    let name = Path::new(&program.command).file_stem();
    name.is_some_and(|name| name == "brief")
        && program.args.first().is_some_and(|word| word == "mcp")
}

fn address_of(server: McpServer) -> ServerAddress {
    match server.connection {
        Connection::Command { command, args, env } => {
            ServerAddress::Program(ServerProgram { command, args, env })
        }
        Connection::Url { url, headers } => {
            let protocol = match server.kind {
                Some(ServerKind::Sse) => RemoteProtocol::Sse,
                Some(ServerKind::Http) => RemoteProtocol::Http,
                Some(ServerKind::Stdio) | None => RemoteProtocol::Either,
            };
            ServerAddress::Remote(RemoteServer { url, headers, protocol })
        }
    }
}

fn transport_address(transport: Transport) -> ServerAddress {
    match transport {
        Transport::Stdio { command, args, env } => {
            ServerAddress::Program(ServerProgram { command, args, env })
        }
        Transport::Remote { protocol, url, headers } => {
            // Few files say which one it is.
            let protocol = match protocol {
                Protocol::Http => RemoteProtocol::Either,
                Protocol::Sse => RemoteProtocol::Sse,
            };
            ServerAddress::Remote(RemoteServer { url, headers, protocol })
        }
    }
}
