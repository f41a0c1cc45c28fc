//! The state of a server, and its answers to messages.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use brief_checks::links::GuidanceLink;
use brief_syntax::rpc::{self, InvalidRpc, RpcError, RpcErrorCode, RpcMessage, build_response};
use brief_syntax::{Diagnostic, Severity, Span};
use brief_system::{Remembered, System, resolve_existing};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value as Json, json};

use super::LspEnding;
use super::checker::{
    CheckRequest, CheckedFolders, Checker, PlacedItem, Texts, in_front, quick_problems,
};
use super::text::{ColumnUnit, LineText, TextPosition, TextRange, TextReplacement};
use super::uri::{path_of, uri_of};
use super::{complete, features, rename, sees};

/// The limit for edits that a result of the checker is moved over. Behind them only the file's own problems are shown.
const MOST_EDITS: usize = 1_000;

/// A document that is open in the editor.
pub(super) struct OpenDocument {
    /// The address, as the editor writes it.
    pub(super) uri: String,
    version: Json,
    pub(super) text: LineText,
    /// The edits since the texts with this stamp, oldest first.
    edits: Vec<(u64, TextReplacement)>,
}

/// A problem at its place in the text of the editor.
#[derive(Debug, Clone)]
pub(super) struct ShownProblem {
    pub(super) diagnostic: Diagnostic,
    pub(super) span: Span,
    /// True if the fix fits the text of the editor.
    pub(super) is_current: bool,
}

/// The phase of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Before,
    Initialized,
    ShutDown,
}

pub(super) enum Reply {
    Messages(Vec<Json>),
    End(LspEnding),
}

pub(super) struct LanguageServer {
    pub(super) system: Arc<dyn System>,
    directory: PathBuf,
    checker: Checker,
    pub(super) unit: ColumnUnit,
    phase: Phase,
    can_refresh_lenses: bool,
    can_watch: bool,
    pub(super) can_rename_files: bool,
    pub(super) folders: Vec<PathBuf>,
    documents: BTreeMap<PathBuf, OpenDocument>,
    stamp: u64,
    checked: CheckedFolders,
    /// The files whose problems the editor shows.
    published: BTreeSet<PathBuf>,
    /// The requests that wait for a result.
    waiting: Vec<(Json, String, Json)>,
    requests: u64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct InitializeParams {
    root_uri: Option<String>,
    workspace_folders: Option<Vec<WorkspaceFolder>>,
    #[serde(default)]
    capabilities: Json,
}

#[derive(Deserialize)]
struct WorkspaceFolder {
    uri: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct DocumentParams {
    text_document: DocumentName,
    #[serde(default)]
    content_changes: Vec<ContentChange>,
    position: Option<TextPosition>,
    range: Option<TextRange>,
}

#[derive(Deserialize)]
pub(super) struct DocumentName {
    pub(super) uri: String,
    #[serde(default)]
    version: Json,
    #[serde(default)]
    text: String,
}

#[derive(Deserialize)]
struct ContentChange {
    range: Option<TextRange>,
    text: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RenameParams {
    #[serde(flatten)]
    place: DocumentParams,
    new_name: String,
}

#[derive(Deserialize)]
struct MovedParams {
    files: Vec<MovedFile>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct MovedFile {
    old_uri: String,
    new_uri: String,
}

#[derive(Deserialize)]
struct FoldersEvent {
    added: Vec<WorkspaceFolder>,
    removed: Vec<WorkspaceFolder>,
}

/// The files whose changes outside the editor count.
const WATCHED: [&str; 2] =
    ["**/*.{md,mdc,yaml,yml,json,jsonc,toml}", "**/.{claude,cursor,github,agents}/**"];

/// Requests whose answer needs the checker's result for the text of the editor.
const NEED_RESULT: [&str; 7] = [
    "textDocument/hover",
    "textDocument/codeLens",
    "textDocument/documentSymbol",
    "textDocument/references",
    "textDocument/prepareRename",
    "textDocument/rename",
    "workspace/willRenameFiles",
];

impl LanguageServer {
    pub(super) fn new(system: Arc<dyn System>, directory: PathBuf, checker: Checker) -> Self {
        LanguageServer {
            system,
            directory,
            checker,
            unit: ColumnUnit::default(),
            phase: Phase::Before,
            can_refresh_lenses: false,
            can_watch: false,
            can_rename_files: false,
            folders: Vec::new(),
            documents: BTreeMap::new(),
            stamp: 0,
            checked: CheckedFolders::default(),
            published: BTreeSet::new(),
            waiting: Vec::new(),
            requests: 0,
        }
    }

    pub(super) fn answer_message(&mut self, message: Json) -> Reply {
        match RpcMessage::from_json(message) {
            Ok(RpcMessage::Request { id, method, params }) => {
                Reply::Messages(self.answer_request(id, method, params))
            }
            Ok(RpcMessage::Notification { method, .. }) if method == "exit" => {
                let is_orderly = self.phase == Phase::ShutDown;
                Reply::End(if is_orderly { LspEnding::Orderly } else { LspEnding::Abrupt })
            }
            Ok(RpcMessage::Notification { method, params }) => {
                Reply::Messages(self.apply_notification(&method, params).unwrap_or_default())
            }
            // The editor's answer to a request of ours needs none.
            Ok(RpcMessage::Response { .. }) => Reply::Messages(Vec::new()),
            Err(InvalidRpc { id, problem }) => {
                let wrong =
                    id.map(|id| create_error_answer(&id, RpcErrorCode::InvalidRequest, problem));
                Reply::Messages(wrong.into_iter().collect())
            }
        }
    }

    fn answer_request(&mut self, id: Json, method: String, params: Json) -> Vec<Json> {
        if self.phase == Phase::ShutDown {
            return vec![create_error_answer(
                &id,
                RpcErrorCode::InvalidRequest,
                "the server has shut down",
            )];
        }
        if method == "initialize" {
            let result = parse_params(params).map(|params| self.initialize(&params));
            return vec![build_response(&id, result)];
        }
        if self.phase == Phase::Before {
            return vec![create_error_answer(
                &id,
                RpcErrorCode::NotInitialized,
                "send `initialize` first",
            )];
        }
        if NEED_RESULT.contains(&method.as_str()) && self.checked.stamp < self.stamp {
            self.waiting.push((id, method, params));
            return Vec::new();
        }
        vec![build_response(&id, self.answer_method(&method, params))]
    }

    fn answer_method(&mut self, method: &str, params: Json) -> Result<Json, RpcError> {
        if method == "shutdown" {
            self.phase = Phase::ShutDown;
            return Ok(Json::Null);
        }
        let wrong = |problem: String| RpcError::new(RpcErrorCode::InvalidParams, problem);
        match method {
            "brief/sees" => return sees::answer_sees(self, &parse_params(params)?).map_err(wrong),
            "workspace/willRenameFiles" => {
                let params: MovedParams = parse_params(params)?;
                let moves = params.files.iter().filter_map(|file| {
                    Some((self.resolve_uri(&file.old_uri)?, path_of(&file.new_uri)?))
                });
                return Ok(rename::answer_renamed_files(self, &moves.collect::<Vec<_>>()));
            }
            "textDocument/rename" => {
                let params: RenameParams = parse_params(params)?;
                let Some(asked) = self.document_question(&params.place) else {
                    return Ok(Json::Null);
                };
                return rename::answer_rename(self, &asked, &params.new_name)
                    .map_err(|problem| RpcError::new(RpcErrorCode::RequestFailed, problem));
            }
            _ => {}
        }
        let answer = match method {
            "textDocument/prepareRename" => rename::answer_prepare_rename,
            "textDocument/hover" => features::answer_hover,
            "textDocument/codeLens" => features::answer_code_lenses,
            "textDocument/documentSymbol" => features::answer_symbols,
            "textDocument/codeAction" => features::answer_code_actions,
            "textDocument/completion" => complete::answer_completion,
            "textDocument/definition" => features::answer_definition,
            "textDocument/references" => features::answer_references,
            "textDocument/formatting" => features::answer_formatting,
            _ => {
                let problem = format!("unknown method `{method}`");
                return Err(RpcError::new(RpcErrorCode::UnknownMethod, problem));
            }
        };
        let params: DocumentParams = parse_params(params)?;
        // An editor may ask about a document that it has closed meanwhile.
        Ok(self.document_question(&params).map_or(Json::Null, |asked| answer(self, &asked)))
    }

    /// Returns a question about an open document.
    fn document_question(&self, params: &DocumentParams) -> Option<DocumentQuestion<'_>> {
        let path = self.resolve_uri(&params.text_document.uri)?;
        let (path, document) = self.documents.get_key_value(&path)?;
        let DocumentParams { position, range, .. } = *params;
        Some(DocumentQuestion { path, document, position, range })
    }

    fn initialize(&mut self, params: &InitializeParams) -> Json {
        let capabilities = &params.capabilities;
        let lists = |way: &str, word: &str| {
            let list = capabilities.pointer(way).and_then(Json::as_array);
            list.is_some_and(|list| list.iter().any(|one| one == word))
        };
        if lists("/general/positionEncodings", "utf-8") {
            self.unit = ColumnUnit::Utf8;
        }
        let can = |way: &str| capabilities.pointer(way) == Some(&Json::Bool(true));
        self.can_refresh_lenses = can("/workspace/codeLens/refreshSupport");
        self.can_watch = can("/workspace/didChangeWatchedFiles/dynamicRegistration");
        self.can_rename_files = lists("/workspace/workspaceEdit/resourceOperations", "rename");
        let named = params.workspace_folders.iter().flatten().map(|folder| &folder.uri);
        self.folders = named.filter_map(|uri| self.resolve_uri(uri)).collect();
        if self.folders.is_empty() {
            let root = params.root_uri.as_ref().and_then(|uri| self.resolve_uri(uri));
            let usual = resolve_existing(self.system.as_ref(), &self.directory).path;
            self.folders.push(root.unwrap_or(usual));
        }
        self.phase = Phase::Initialized;
        self.request_check();
        json!({
            "capabilities": {
                "positionEncoding": self.unit.name(),
                "textDocumentSync": {"openClose": true, "change": 2, "save": true},
                "hoverProvider": true,
                "codeLensProvider": {},
                "documentSymbolProvider": true,
                "completionProvider": {"triggerCharacters": [" ", "\n", "-"]},
                "definitionProvider": true,
                "referencesProvider": true,
                "documentFormattingProvider": true,
                "renameProvider": {"prepareProvider": true},
                "codeActionProvider": {"codeActionKinds": ["quickfix", "source.fixAll"]},
                "workspace": {
                    "workspaceFolders": {"supported": true, "changeNotifications": true},
                    "fileOperations": {"willRename": {"filters": [{"pattern": {"glob": "**"}}]}},
                },
                "experimental": {"briefSees": true},
            },
            "serverInfo": {"name": "brief", "version": env!("CARGO_PKG_VERSION")},
        })
    }

    /// Takes a notification. One that cannot be read is passed over, as the protocol says.
    fn apply_notification(&mut self, method: &str, params: Json) -> Option<Vec<Json>> {
        match method {
            "textDocument/didOpen" => {
                let DocumentName { uri, version, text } =
                    parse_params::<DocumentParams>(params).ok()?.text_document;
                let path = self.resolve_uri(&uri)?;
                let text = LineText::new(text);
                let document = OpenDocument { uri, version, text, edits: Vec::new() };
                self.documents.insert(path.clone(), document);
                self.request_check();
                Some(vec![self.create_diagnostics_message(&path)])
            }
            "textDocument/didChange" => {
                let params = parse_params::<DocumentParams>(params).ok()?;
                let path = self.resolve_uri(&params.text_document.uri)?;
                let (unit, stamp) = (self.unit, self.stamp + 1);
                let document = self.documents.get_mut(&path)?;
                document.version = params.text_document.version;
                for change in params.content_changes {
                    let replaced = document.text.replace(change.range, &change.text, unit);
                    document.edits.push((stamp, replaced));
                }
                self.request_check();
                Some(vec![self.create_diagnostics_message(&path)])
            }
            "textDocument/didClose" => {
                let params = parse_params::<DocumentParams>(params).ok()?;
                let path = self.resolve_uri(&params.text_document.uri)?;
                self.documents.remove(&path)?;
                self.request_check();
                None
            }
            "initialized" if self.can_watch => {
                let watchers: Vec<Json> =
                    WATCHED.iter().map(|pattern| json!({"globPattern": pattern})).collect();
                let registration = json!({
                    "id": "brief-files",
                    "method": "workspace/didChangeWatchedFiles",
                    "registerOptions": {"watchers": watchers},
                });
                let params = json!({"registrations": [registration]});
                Some(vec![self.create_request("client/registerCapability", Some(params))])
            }
            "textDocument/didSave" | "workspace/didChangeWatchedFiles" => {
                self.request_check();
                None
            }
            "workspace/didChangeWorkspaceFolders" => {
                let event = params.get("event")?.clone();
                let FoldersEvent { added, removed } = parse_params(event).ok()?;
                let places = |folders: &[WorkspaceFolder]| -> Vec<PathBuf> {
                    folders.iter().filter_map(|folder| self.resolve_uri(&folder.uri)).collect()
                };
                let (added, removed) = (places(&added), places(&removed));
                self.folders.retain(|folder| !removed.contains(folder));
                self.folders.extend(added);
                self.request_check();
                None
            }
            "$/cancelRequest" => {
                let id = params.get("id")?;
                let place = self.waiting.iter().position(|(waiting, ..)| waiting == id)?;
                let (id, ..) = self.waiting.remove(place);
                Some(vec![create_error_answer(&id, RpcErrorCode::Cancelled, "cancelled")])
            }
            _ => None,
        }
    }

    /// Takes a result of the checker, and returns the messages about it.
    pub(super) fn apply_checked(&mut self, checked: CheckedFolders) -> Vec<Json> {
        for document in self.documents.values_mut() {
            document.edits.retain(|(stamp, _)| *stamp > checked.stamp);
        }
        self.checked = checked;
        let mut messages = Vec::new();
        for (id, method, params) in std::mem::take(&mut self.waiting) {
            messages.extend(self.answer_request(id, method, params));
        }
        let files: BTreeSet<PathBuf> = self.checked.files.keys().cloned().collect();
        let open = self.documents.keys().cloned().collect();
        let stale: BTreeSet<PathBuf> = self.published.difference(&files).cloned().collect();
        for path in files.iter().chain(&stale).collect::<BTreeSet<_>>() {
            messages.push(self.create_diagnostics_message(path));
        }
        self.published = files.union(&open).cloned().collect();
        if self.can_refresh_lenses {
            messages.push(self.create_request("workspace/codeLens/refresh", None));
        }
        messages
    }

    /// Returns a request to the editor. Its answer is of no use to us.
    fn create_request(&mut self, method: &str, params: Option<Json>) -> Json {
        self.requests += 1;
        let id = format!("brief-{}", self.requests);
        rpc::build_request(&id.into(), method, params)
    }

    /// Lets the checker look at the texts as they are now.
    fn request_check(&mut self) {
        self.stamp += 1;
        let texts = self.document_texts();
        let folders = self.folders.clone();
        self.checker.request_check(CheckRequest { stamp: self.stamp, folders, texts });
    }

    /// Returns the path of a document without links. A link of the editor's own is followed as for any file.
    pub(super) fn resolve_uri(&self, uri: &str) -> Option<PathBuf> {
        Some(resolve_existing(self.system.as_ref(), &path_of(uri)?).path)
    }

    /// Returns the items of a document, by line.
    pub(super) fn items(&self, path: &Path) -> &[PlacedItem] {
        self.checked.items.get(path).map_or(&[], Vec::as_slice)
    }

    /// Returns the places that name a file, or files below a directory, by file.
    pub(super) fn links_below<'s>(
        &'s self,
        path: &'s Path,
    ) -> impl Iterator<Item = (&'s Path, &'s [GuidanceLink])> {
        let below = self.checked.links.range::<Path, _>((Bound::Included(path), Bound::Unbounded));
        let below = below.take_while(move |(target, _)| target.starts_with(path));
        below.map(|(target, links)| (target.as_path(), links.as_slice()))
    }

    /// Returns the address of a file, as the editor writes it if it is open.
    pub(super) fn uri_of_document(&self, path: &Path) -> String {
        self.documents.get(path).map_or_else(|| uri_of(path), |document| document.uri.clone())
    }

    /// Puts the texts of the editor in front of the disk.
    pub(super) fn in_front_of_disk(&self) -> Option<Remembered> {
        in_front(&self.system, &self.document_texts())
    }

    fn document_texts(&self) -> Texts {
        let text = |document: &OpenDocument| Arc::from(document.text.text());
        self.documents.iter().map(|(path, document)| (path.clone(), text(document))).collect()
    }

    /// Returns the places that name a file.
    pub(super) fn links_to(&self, path: &Path) -> &[GuidanceLink] {
        self.checked.links.get(path).map_or(&[], Vec::as_slice)
    }

    /// Returns the problems of an open document at their places now: the file's own, and those of the last result
    /// that no edit has touched since.
    pub(super) fn collect_problems(
        &self,
        path: &Path,
        document: &OpenDocument,
    ) -> Vec<ShownProblem> {
        let current = |diagnostic: Diagnostic| ShownProblem {
            span: diagnostic.span,
            diagnostic,
            is_current: true,
        };
        let known = self.checked.files.get(path).map_or(&[][..], Vec::as_slice);
        if document.edits.is_empty() {
            return known.iter().map(|problem| current(problem.diagnostic.clone())).collect();
        }
        let text = document.text.text();
        let quick = quick_problems(&self.system, &self.folders, path, text);
        let mut shown: Vec<ShownProblem> = quick.into_iter().map(current).collect();
        if document.edits.len() <= MOST_EDITS {
            for problem in known.iter().filter(|problem| !problem.is_quick) {
                let diagnostic = problem.diagnostic.clone();
                let mut edits = document.edits.iter();
                let moved = edits.try_fold(diagnostic.span, |span, (_, edit)| edit.move_span(span));
                let moved = moved.map(|span| ShownProblem { diagnostic, span, is_current: false });
                shown.extend(moved);
            }
        }
        shown
    }

    /// Returns the message with the problems of a file.
    fn create_diagnostics_message(&self, path: &Path) -> Json {
        let shown = |problem: &Diagnostic, span: Span, text: &LineText| {
            shown_problem(problem, text.range(span, self.unit))
        };
        let params = match self.documents.get(path) {
            Some(document) => {
                let problems = self.collect_problems(path, document);
                let shown: Vec<Json> = problems
                    .iter()
                    .map(|problem| shown(&problem.diagnostic, problem.span, &document.text))
                    .collect();
                json!({"uri": document.uri, "version": document.version, "diagnostics": shown})
            }
            None => {
                let known = self.checked.files.get(path).map_or(&[][..], Vec::as_slice);
                let source = known.first().map(|problem| &problem.diagnostic.source);
                let text = source.map(|source| LineText::new(source.text().to_owned()));
                let text = text.unwrap_or_default();
                let problems = known.iter().map(|problem| &problem.diagnostic);
                let shown: Vec<Json> =
                    problems.map(|problem| shown(problem, problem.span, &text)).collect();
                json!({"uri": uri_of(path), "diagnostics": shown})
            }
        };
        rpc::build_notification("textDocument/publishDiagnostics", Some(params))
    }
}

/// Returns a problem in the words of the protocol.
fn shown_problem(diagnostic: &Diagnostic, range: TextRange) -> Json {
    let severity = match diagnostic.severity {
        Severity::Error => 1,
        Severity::Warning => 2,
        Severity::Note => 3,
    };
    let mut shown = json!({
        "range": range,
        "severity": severity,
        "code": diagnostic.code(),
        "source": "brief",
        "message": diagnostic.message_and_help(),
    });
    if diagnostic.code().ends_with("/dead-glob") {
        // Editors show unused text faded.
        shown["tags"] = json!([1]);
    }
    shown
}

/// A question about an open document.
pub(super) struct DocumentQuestion<'d> {
    pub(super) path: &'d Path,
    pub(super) document: &'d OpenDocument,
    pub(super) position: Option<TextPosition>,
    pub(super) range: Option<TextRange>,
}

/// Returns the answer to a request that is not done.
fn create_error_answer(id: &Json, code: RpcErrorCode, problem: &str) -> Json {
    build_response(id, Err(RpcError::new(code, problem)))
}

fn parse_params<T: DeserializeOwned>(params: Json) -> Result<T, RpcError> {
    serde_json::from_value(params)
        .map_err(|error| RpcError::new(RpcErrorCode::InvalidParams, error.to_string()))
}
