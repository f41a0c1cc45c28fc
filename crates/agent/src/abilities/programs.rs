//! `sh`: programs, started with a list of arguments and without a shell.
//!
//! A program is found by its bare name in a fixed list of directories, never in the project. It starts in the
//! project with an environment of a few harmless variables, and is killed with all its children when it takes
//! too long or writes too much. This very program is between us and it as a keeper ([`run_program_keeper`]), so that it also ends
//! when we are killed.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use brief_syntax::limits;
use brief_system::{
    Call, Ending, Environment, Interruption, OsSystem, OverLimit, Processes, Stream, System,
    render_io_error as words_of,
};
use serde_json::{Value, json};

use super::scope::{HiddenEntry, NarrowedArguments, ProjectTree};
use super::{
    AbilityResult, create_failure, create_refusal, files, repository, scope, text_argument,
};

/// The directories in which programs are found, in this order.
pub const DEFAULT_PATH: [&str; 5] =
    ["/usr/local/bin", "/usr/bin", "/bin", "/opt/homebrew/bin", "/run/current-system/sw/bin"];

/// Variables that a program gets from our environment.
const KEPT: [&str; 8] = ["HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR"];

/// The argument that turns this program into the keeper of a granted program. It is not part of the help, because users
/// do not type it.
pub const PROGRAM_KEEPER_ARGUMENT: &str = "__program-keeper";

/// The exit status of a keeper that could not start its program, and the beginning of what it says then.
const NOT_STARTED: (u8, &str) = (126, "brief: not started: ");

/// The limit for the arguments of one call.
const MOST_ARGUMENTS: usize = 1_000;

/// The limit for the bytes of all arguments of one call.
const MOST_BYTES: usize = 128 * 1024;

/// The directories in which programs are found and started.
pub(super) struct ProgramContext<'p> {
    pub(super) system: &'p dyn System,
    pub(super) root: &'p Path,
    pub(super) path: &'p [String],
    /// The interruption that ends a started program.
    pub(super) stop: &'p Interruption,
    /// The program that ends a started program when we are killed: this one. Without it, nobody does.
    pub(super) keeper: Option<&'p Path>,
}

/// Runs this process as the keeper of a granted program, which ends when `brief` is killed. The arguments are those after
/// [`PROGRAM_KEEPER_ARGUMENT`]: the number of our parent, the program, and the program's arguments.
#[expect(clippy::disallowed_methods, reason = "the program gets the environment of its keeper")]
pub fn run_program_keeper(mut arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let parent = arguments.next().and_then(|parent| parent.to_str()?.parse().ok());
    let (Some(parent), Some(program)) = (parent, arguments.next()) else {
        return ExitCode::FAILURE;
    };
    let mut call = Call::new(program, ".", Duration::ZERO, 0);
    call.args.extend(arguments);
    call.environment = Environment::Empty;
    call.env.extend(std::env::vars_os());
    match OsSystem.run_for(parent, &call) {
        Ok(Ending::Exited(status)) => ExitCode::from(u8::try_from(status & 0xff).unwrap_or(1)),
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            let _ = writeln!(io::stderr(), "{}{}", NOT_STARTED.1, words_of(&error));
            ExitCode::from(NOT_STARTED.0)
        }
    }
}

/// Returns whether a name is that of a program, without a directory (Y47).
pub(super) fn is_bare(name: &str) -> bool {
    let letter = |byte: u8| byte.is_ascii_alphanumeric() || b"._+-".contains(&byte);
    !name.is_empty() && name.bytes().all(letter) && !matches!(name, "." | "..")
}

/// Starts a program and waits for its end. A status other than 0 is a result, not an error.
pub(super) fn run_program(
    place: &ProgramContext<'_>,
    args: &[Value],
    is_scoped: bool,
    time_left: Duration,
) -> AbilityResult {
    let name = text_argument(args, 0, "a program")?;
    let arguments = parse_arguments(args.get(1))?;
    let program = find_program(place, name)?;
    let narrowed = if is_scoped {
        narrow_arguments(place, name, &arguments)?
    } else {
        NarrowedArguments { args: arguments, left_out: Vec::new() }
    };
    let NarrowedArguments { args: arguments, left_out } = narrowed;
    let is_scoped_git = is_scoped && scope::is_git(name);
    if is_scoped_git {
        repository::refuse_others(place.system, place.root, &arguments)
            .map_err(|reason| create_refusal(format!("`git`: {reason}")))?;
        refuse_settings(place, &program)?;
    }
    let time = time_left.min(Duration::from_secs(limits::COMMAND_SECONDS));
    let mut call = prepare_call(place, program, time, is_scoped_git);
    if let Some(keeper) = place.keeper {
        let program = std::mem::replace(&mut call.program, keeper.into());
        call = call.arg(PROGRAM_KEEPER_ARGUMENT).arg(std::process::id().to_string()).arg(program);
    }
    call.args.extend(arguments.iter().map(Into::into));
    if let Some(input) = args.get(2).and_then(|options| options.get("input")) {
        let input = input.as_str().ok_or_else(|| create_refusal("`input` must be a string"))?;
        call.input = input.as_bytes().to_vec();
    }
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let ending = place.system.run_program(&call, &mut |stream, piece| match stream {
        Stream::Stdout => stdout.extend_from_slice(piece),
        Stream::Stderr => stderr.extend_from_slice(piece),
    });
    let ended = |message: &str| Err(create_failure(format!("`{name}` {message}")));
    match ending {
        Err(error) => ended(&format!("could not be started: {}", words_of(&error))),
        Ok(Ending::Exited(status)) => match not_started(place, status, &stderr) {
            Some(reason) => ended(&format!("could not be started: {reason}")),
            None => Ok(json!({
                "status": status,
                "stdout": String::from_utf8_lossy(&stdout),
                "stderr": String::from_utf8_lossy(&stderr) + explain_left_out(&left_out).as_str(),
            })),
        },
        Ok(Ending::Killed) => ended("was killed by a signal"),
        Ok(Ending::TimedOut) => {
            ended(&format!("took longer than {} s and was stopped", time.as_secs_f64()))
        }
        Ok(Ending::TooMuchOutput) => {
            ended(&format!("wrote more than {} bytes and was stopped", call.output_limit))
        }
        Ok(Ending::Interrupted) => ended("was interrupted"),
    }
}

/// Returns the reason why a keeper has not started its program.
fn not_started(place: &ProgramContext<'_>, status: i32, stderr: &[u8]) -> Option<String> {
    place.keeper.filter(|_| status == i32::from(NOT_STARTED.0))?;
    let reason = stderr.strip_prefix(NOT_STARTED.1.as_bytes())?;
    Some(String::from_utf8_lossy(reason).trim_end().to_owned())
}

/// Prepares the call of a program in the project.
fn prepare_call(
    place: &ProgramContext<'_>,
    program: PathBuf,
    time: Duration,
    is_scoped_git: bool,
) -> Call {
    let mut call = Call::new(program, place.root, time, limits::COMMAND_OUTPUT_BYTES);
    call.environment = Environment::Empty;
    call.when_over_limit = OverLimit::EndIt;
    call.interruption = place.stop.clone();
    for variable in KEPT {
        if let Some(value) = place.system.env(variable) {
            call = call.with_env(variable, value);
        }
    }
    call = call.with_env("PATH", place.path.join(":")).with_env("TERM", "dumb");
    if is_scoped_git {
        for (variable, value) in scope::git_environment() {
            call = call.with_env(variable, value);
        }
        // A repository around the project does not belong to it.
        if let Some(above) = place.root.parent() {
            call = call.with_env("GIT_CEILING_DIRECTORIES", above);
        }
    }
    call
}

/// The names that are told when a program left files out.
const MOST_TOLD: usize = 10;

/// Says which files a program was told to leave out, so that they are not taken for searched.
fn explain_left_out(left_out: &[String]) -> String {
    let Some(first) = left_out.get(..left_out.len().min(MOST_TOLD)).filter(|all| !all.is_empty())
    else {
        return String::new();
    };
    let more = match left_out.len() - first.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("brief: not read, may hold secrets: `{}`{more}\n", first.join("`, `"))
}

/// Returns the arguments for a program under a scope, which keep to what tools may read.
fn narrow_arguments(
    place: &ProgramContext<'_>,
    name: &str,
    arguments: &[String],
) -> AbilityResult<NarrowedArguments> {
    let path = |path: &str| place.check_path(path);
    let revision = |word: &str| {
        let is_step = |part: &str| part == "..";
        if word.starts_with(['/', '\\']) || word.contains("::") {
            return Err(format!("`{word}` must be relative to the project"));
        }
        if word.split(['/', '\\', ':', '(', ')', '!', '^', ',']).any(is_step) {
            return Err(format!("`{word}` is outside the project"));
        }
        stays_inside(place, word)
    };
    let checks = scope::Checks { path: &path, revision: &revision };
    scope::scope_arguments(name, arguments, checks)
        .and_then(|words| scope::exclude_hidden(name, words, place))
        .map_err(|reason| create_refusal(format!("`{name}`: {reason}")))
}

impl ProjectTree for ProgramContext<'_> {
    fn is_directory(&self, path: &str) -> bool {
        self.system.open_dir(&self.root.join(path)).is_ok()
    }

    fn check_path(&self, path: &str) -> Result<(), String> {
        files::check_path(path).map_err(|refusal| refusal.to_string())?;
        stays_inside(self, path)
    }

    fn hidden_below(&self, directories: &[String]) -> Result<Vec<HiddenEntry>, String> {
        let (top, root) = self.system.open_root(self.root).map_err(|error| words_of(&error))?;
        let mut hidden: Vec<HiddenEntry> = Vec::new();
        for directory in directories {
            // A link that stays in the project is followed by the program.
            let resolved = self.system.resolve_dir(&root.join(directory));
            let resolved = resolved.map_err(|error| words_of(&error))?;
            let below = resolved
                .strip_prefix(&root)
                .map_err(|_| "the path is outside the project".to_owned())?;
            let below = below.to_str().ok_or_else(|| format!("`{directory}` is not UTF-8"))?;
            let found = files::hidden_below(top.as_ref(), below)?;
            // The program names what it finds below the link.
            let renamed = found.into_iter().map(|entry| {
                let rest = entry.path.strip_prefix(below).unwrap_or(&entry.path);
                let top = directory.trim_start_matches("./").trim_end_matches('/');
                let top = if top == "." { "" } else { top };
                let path = format!("{top}/{}", rest.trim_start_matches('/'));
                HiddenEntry { path: path.trim_start_matches('/').to_owned(), ..entry }
            });
            hidden.extend(renamed);
        }
        hidden.sort_unstable_by(|left, right| left.path.cmp(&right.path));
        hidden.dedup();
        Ok(hidden)
    }
}

/// Refuses a path of the project that leads out of it through a link.
fn stays_inside(place: &ProgramContext<'_>, path: &str) -> Result<(), String> {
    let path = Path::new(path);
    // A missing path leads where its nearest existing parent leads.
    for ancestor in path.ancestors() {
        match place.system.resolve(&place.root.join(ancestor)) {
            Ok(resolved) if resolved.path.starts_with(place.root) => {
                return check_target(place, path, ancestor, &resolved.path);
            }
            Ok(_) => return Err(format!("`{}` points outside the project", path.display())),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                // A link to a missing file would be written through.
                let above = place.root.join(ancestor.parent().unwrap_or(Path::new("")));
                let link = ancestor
                    .file_name()
                    .map(|name| place.system.open_dir(&above).and_then(|above| above.status(name)));
                if link.is_some_and(|status| status.is_ok()) {
                    return Err(format!("`{}` points outside the project", path.display()));
                }
            }
            Err(_) => return Ok(()),
        }
    }
    Ok(())
}

/// Refuses a link to a file of the project that is hidden from tools.
fn check_target(
    place: &ProgramContext<'_>,
    path: &Path,
    existing: &Path,
    target: &Path,
) -> Result<(), String> {
    let target = target.strip_prefix(place.root).unwrap_or(target);
    let rest = path.strip_prefix(existing).unwrap_or(path);
    let target = target.join(rest);
    let is_same =
        path.components().filter(|part| *part != Component::CurDir).eq(target.components());
    if is_same {
        return Ok(());
    }
    files::check_path(&target.to_string_lossy()).map_err(|refusal| refusal.to_string())
}

/// Refuses git in a repository with settings that may name a program or a directory: an unpacked archive may
/// contain them.
fn refuse_settings(place: &ProgramContext<'_>, git: &Path) -> AbilityResult<()> {
    let time = Duration::from_secs(limits::COMMAND_SECONDS);
    let mut call = prepare_call(place, git.to_owned(), time, true);
    let words = ["config", "--local", "--list", "--name-only", "--null", "--no-includes"];
    call.args.extend(words.map(Into::into));
    let mut listed = Vec::new();
    let ending = place.system.run_program(&call, &mut |stream, piece| {
        if stream == Stream::Stdout {
            listed.extend_from_slice(piece);
        }
    });
    // Without a repository there are no settings, and git exits with a status.
    match ending {
        Ok(Ending::Exited(_)) => {}
        Ok(_) => return Err(create_failure("cannot list the settings of `git`")),
        Err(error) => {
            let reason = words_of(&error);
            return Err(create_failure(format!("`git` could not be started: {reason}")));
        }
    }
    let listed = String::from_utf8_lossy(&listed);
    let mut keys = listed.split('\0').filter(|key| !key.is_empty());
    match keys.find(|key| !scope::is_harmless_setting(key)) {
        None => Ok(()),
        Some(key) => Err(create_refusal(format!(
            "`git` was not started: the repository sets `{key}`, which may start a program or reach outside the project, and \
             `sh:git` does not cover that"
        ))),
    }
}

fn parse_arguments(list: Option<&Value>) -> AbilityResult<Vec<String>> {
    let wrong = || create_refusal("the arguments must be a list of strings");
    let list = match list {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(list) => list.as_array().ok_or_else(wrong)?,
    };
    let arguments: Option<Vec<String>> =
        list.iter().map(|argument| argument.as_str().map(str::to_owned)).collect();
    let arguments = arguments.ok_or_else(wrong)?;
    let bytes: usize = arguments.iter().map(String::len).sum();
    if arguments.len() > MOST_ARGUMENTS || bytes > MOST_BYTES {
        return Err(create_refusal("too many arguments"));
    }
    if arguments.iter().any(|argument| argument.contains('\0')) {
        return Err(create_refusal("an argument contains a null character"));
    }
    Ok(arguments)
}

fn find_program(place: &ProgramContext<'_>, name: &str) -> AbilityResult<PathBuf> {
    for directory in place.path {
        let directory = Path::new(directory);
        // A program in the project is not the one that the operator granted.
        if !directory.is_absolute() || directory.starts_with(place.root) {
            continue;
        }
        let path = directory.join(name);
        if place.system.is_executable(&path).is_ok_and(|is_executable| is_executable) {
            return Ok(path);
        }
    }
    Err(create_failure(format!("program not found: `{name}` in `{}`", place.path.join(":"))))
}
