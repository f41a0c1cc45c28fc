//! The program `brief-agent`: it runs agent files, and parses their code.
//!
//! It is another program, because one user in twenty runs agent files, and a JavaScript engine with its sandbox, a line editor
//! and a browser's protocol would be in every hook otherwise. `brief` looks for it next to itself, then on `PATH` outside the
//! project. Code is parsed there and not by a parser of our own: the engine that runs the code decides what is valid.

use std::ffi::OsString;
use std::io;
use std::time::Duration;

use brief_engine::agents::CodeProblem;
use brief_system::{Call, Ending, Environment, FileKind, Stream, System};
use serde::{Deserialize, Serialize};

use crate::error::{CommandError, Result};
use crate::session::Session;

/// The name of the program.
const NAME: &str = "brief-agent";

/// The beginning of the first argument of every call, which the version of `brief` follows: only programs of one release
/// understand each other.
pub const RELEASE_ARGUMENT: &str = "__release=";

/// The argument for parsing code: a JSON array of texts on standard input, one of [`ParsedCode`] on standard output.
pub const PARSE_ARGUMENT: &str = "__parse";

/// The argument for the isolation features that this system lacks, as a JSON array of names.
pub const FENCES_ARGUMENT: &str = "__fences";

/// The time limit for an answer: each of some agents is parsed in less than a tenth of a second.
const PATIENCE: Duration = Duration::from_mins(1);

/// The limit for the bytes of an answer.
const ANSWER_BYTES: usize = 4 * 1024 * 1024;

/// The result of parsing one text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ParsedCode {
    Valid,
    Invalid(CodeProblem),
    /// It was not parsed, for a reason.
    Unparsed(String),
}

/// Becomes `brief-agent`, with the words of a call of `brief agent`.
pub(crate) fn hand_over(session: &Session, words: &[OsString]) -> Result {
    let program = locate_program(session.system());
    let args: Vec<OsString> =
        [release_argument()].into_iter().chain(words.iter().cloned()).collect();
    match session.system().hand_over(&program, &args) {
        Ok(0) => Ok(()),
        Ok(code) => Err(CommandError::of_program(code)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Err(CommandError::usage(MISSING).with_hint(HOW_TO_GET_IT))
        }
        Err(error) => {
            let program = program.to_string_lossy();
            Err(CommandError::usage(format!("cannot start `{program}`: {error}")))
        }
    }
}

/// The message where the program is not installed.
pub(crate) const MISSING: &str = "`brief-agent` is not installed";

/// The way to the program.
pub(crate) const HOW_TO_GET_IT: &str = "install a package of brief, which contains `brief-agent`, or run \
    `cargo build -p brief-agent-cli` in a clone";

/// Parses texts. The error is a message, about all of them.
pub(crate) fn parse_code(session: &Session, texts: &[&str]) -> Result<Vec<ParsedCode>, String> {
    let input = serde_json::to_vec(texts).map_err(|error| error.to_string())?;
    let parsed: Vec<ParsedCode> = call_agent_program(session, PARSE_ARGUMENT, input)?;
    if parsed.len() == texts.len() { Ok(parsed) } else { Err(invalid_answer()) }
}

/// Returns the isolation features that this system lacks. The error is a message.
pub(crate) fn missing_fences(session: &Session) -> Result<Vec<String>, String> {
    call_agent_program(session, FENCES_ARGUMENT, Vec::new())
}

/// Asks the program, and parses its answer.
fn call_agent_program<T: for<'t> Deserialize<'t>>(
    session: &Session,
    argument: &str,
    input: Vec<u8>,
) -> Result<T, String> {
    let system = session.system();
    let mut call = Call::new(locate_program(system), session.directory(), PATIENCE, ANSWER_BYTES);
    call = call.arg(release_argument()).arg(argument);
    // It reads no setting, so it gets no secret.
    call.environment = Environment::Path;
    call.input = input;
    let (mut answer, mut errors) = (Vec::new(), Vec::new());
    let ending = system.run_program(&call, &mut |stream, piece| match stream {
        Stream::Stdout => answer.extend_from_slice(piece),
        Stream::Stderr => errors.extend_from_slice(piece),
    });
    match ending {
        Ok(Ending::Exited(0)) => serde_json::from_slice(&answer).map_err(|_| invalid_answer()),
        Ok(_) => {
            let said = String::from_utf8_lossy(&errors);
            let said = said.lines().next().unwrap_or_default();
            let said = said.strip_prefix("error: ").unwrap_or(said);
            Err(if said.is_empty() { invalid_answer() } else { said.to_owned() })
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(MISSING.to_owned()),
        Err(error) => Err(format!("cannot start `{NAME}`: {error}")),
    }
}

fn invalid_answer() -> String {
    format!("`{NAME}` returned an invalid answer")
}

fn release_argument() -> OsString {
    format!("{RELEASE_ARGUMENT}{}", env!("CARGO_PKG_VERSION")).into()
}

/// Returns the path of the program next to this one, or else its name.
fn locate_program(system: &dyn System) -> OsString {
    let file = format!("{NAME}{}", std::env::consts::EXE_SUFFIX);
    let own = system.own_program().and_then(|own| system.resolve(&own));
    let beside = own.map(|own| own.path.with_file_name(&file));
    match beside {
        Ok(path) if system.resolve(&path).is_ok_and(|found| found.kind == FileKind::File) => {
            path.into_os_string()
        }
        _ => file.into(),
    }
}
