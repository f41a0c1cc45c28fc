//! Helpers of the tests: a project in memory, a command line, and a `CommandRunner` with a script.

use std::path::Path;

use brief_dialects::tasks::{
    Amount, Author, Bootstrap, CodingAgent, CommandRunner, HiddenInPrompt, Library, LimitedRules,
    NotRun, Parameters, Prompt, PromptCommand, PromptLayout, PromptRequest, Script, SearchOrigin,
    SearchRoot, Selectors, TaskError, TaskFileKind, TaskName, assemble_prompt,
};
use brief_system::{MemorySystem, System};

/// An empty project `/p` of a user whose home is `/h`.
pub(crate) fn project() -> MemorySystem {
    MemorySystem::new("/p").with_dir("/h").with_env("HOME", "/h")
}

/// Answers commands from a table, and remembers what it was asked.
#[derive(Default)]
pub(crate) struct Scripted {
    answers: Vec<(String, Result<Vec<u8>, NotRun>)>,
    scripts: Vec<(String, Result<(), NotRun>)>,
    made: Vec<(String, String, Vec<u8>)>,
    system: Option<MemorySystem>,
    /// The commands, in the order in which they were asked for.
    pub(crate) commands: Vec<String>,
    /// The scripts, in the order in which they were asked for.
    pub(crate) bootstraps: Vec<String>,
}

impl Scripted {
    /// Lets a command write something. Commands that are not in the table fail.
    pub(crate) fn answer(mut self, command: &str, output: impl AsRef<[u8]>) -> Self {
        self.answers.push((command.to_owned(), Ok(output.as_ref().to_vec())));
        self
    }

    /// Lets a command not be run.
    pub(crate) fn refuse(mut self, command: &str, why: NotRun) -> Self {
        self.answers.push((command.to_owned(), Err(why)));
        self
    }

    /// Lets a script not run. Scripts that are not in the table succeed.
    pub(crate) fn refuse_script(mut self, script: &str, why: NotRun) -> Self {
        self.scripts.push((script.to_owned(), Err(why)));
        self
    }

    /// Lets a command or script write a file when it runs.
    pub(crate) fn makes(
        mut self,
        system: &MemorySystem,
        what: &str,
        path: &str,
        text: &str,
    ) -> Self {
        self.system = Some(system.clone());
        self.made.push((what.to_owned(), path.to_owned(), text.into()));
        self
    }

    fn make(&self, what: &str) {
        for (_, path, text) in self.made.iter().filter(|(made, _, _)| made == what) {
            let system = self.system.as_ref().unwrap();
            (system as &dyn System).replace_file(Path::new(path), text).unwrap();
        }
    }
}

impl CommandRunner for Scripted {
    fn run_prompt_command(&mut self, command: &PromptCommand<'_>) -> Result<Vec<u8>, NotRun> {
        let text = String::from_utf8_lossy(command.text).into_owned();
        self.commands.push(text.clone());
        self.make(&text);
        let answer = self.answers.iter().find(|(known, _)| *known == text);
        answer.map_or_else(|| Err(NotRun::Failed("exit status 1".to_owned())), |(_, a)| a.clone())
    }

    fn run_bootstrap_script(&mut self, bootstrap: &Bootstrap<'_>) -> Result<(), NotRun> {
        let script = match bootstrap.script {
            Script::File(path) => path.to_str().unwrap().to_owned(),
            Script::Inline(text) => format!("sh -c {text}"),
        };
        self.bootstraps.push(script.clone());
        self.make(&script);
        let answer = self.scripts.iter().find(|(known, _)| *known == script);
        answer.map_or(Ok(()), |(_, answer)| answer.clone())
    }
}

/// Assembles what a command line asks for, in `/p`. `-d remote:/dir` is a directory that came over
/// a network.
pub(crate) fn try_live(
    system: &MemorySystem,
    arguments: &[&str],
    live: &mut Scripted,
) -> Result<Prompt, TaskError> {
    let mut parameters = Parameters::default();
    let mut selectors = Selectors::default();
    let mut agent = None;
    let mut amount = Amount::Everything;
    let mut roots = vec![root("/p", SearchOrigin::Project), root("/h", SearchOrigin::Home)];
    let mut given = 0;
    let mut words = Vec::new();
    let mut arguments = arguments.iter();
    while let Some(&argument) = arguments.next() {
        let mut value = || *arguments.next().unwrap();
        match argument {
            "-p" => parameters.add_text(value().as_bytes()).unwrap(),
            "-s" => selectors.add_text(value()).unwrap(),
            "-a" => agent = Some(CodingAgent::from_name(value()).unwrap()),
            "-r" => {
                selectors.add_selector("resume", "true");
                amount = Amount::TaskAlone;
            }
            "--skip-bootstrap" => amount = Amount::TaskAlone,
            "-d" => {
                roots.insert(given, root(value(), SearchOrigin::Given));
                given += 1;
            }
            "-D" => roots.push(root(value(), SearchOrigin::Fallback)),
            word => words.push(word),
        }
    }
    let name = TaskName::parse(words[0]).unwrap();
    let library = Library::open(system, &roots);
    let request = PromptRequest {
        kind: TaskFileKind::Task,
        name: &name,
        prompt: words.get(1).map(|prompt| prompt.as_bytes()),
        parameters: &parameters,
        selectors: &selectors,
        agent,
        amount,
        hidden: HiddenInPrompt::Kept,
        limited: LimitedRules::Included,
        directory: Path::new("/p"),
        project: Path::new("/p"),
    };
    assemble_prompt(&library, &request, live)
}

fn root(path: &str, origin: SearchOrigin) -> SearchRoot {
    let (path, author) = match path.split_once(':') {
        Some(("remote", path)) => (path, Author::Remote),
        Some(("project", path)) => (path, Author::Project),
        _ => (path, Author::User),
    };
    SearchRoot { path: path.into(), origin, author }
}

/// Assembles with a script.
pub(crate) fn run_live(system: &MemorySystem, arguments: &[&str], live: &mut Scripted) -> Prompt {
    try_live(system, arguments, live).unwrap()
}

/// Assembles where no command succeeds.
pub(crate) fn run(system: &MemorySystem, arguments: &[&str]) -> Prompt {
    run_live(system, arguments, &mut Scripted::default())
}

/// Returns the reason why there is no prompt.
pub(crate) fn failure(system: &MemorySystem, arguments: &[&str]) -> TaskError {
    try_live(system, arguments, &mut Scripted::default()).unwrap_err()
}

/// The whole output.
pub(crate) fn output(prompt: &Prompt) -> String {
    String::from_utf8(prompt.render(PromptLayout::WHOLE)).unwrap()
}

/// The task's text.
pub(crate) fn task_text(prompt: &Prompt) -> &str {
    str::from_utf8(&prompt.task.text).unwrap()
}

/// The files of the rules, in order, shown from the project.
pub(crate) fn rules(prompt: &Prompt) -> Vec<&str> {
    prompt.rules.iter().map(|rule| shown(rule.document.path())).collect()
}

/// The texts of the rules, in order.
pub(crate) fn rule_texts(prompt: &Prompt) -> Vec<&str> {
    prompt.rules.iter().map(|rule| str::from_utf8(&rule.text).unwrap()).collect()
}

/// The files of the skills, in order, shown from the project.
pub(crate) fn skills(prompt: &Prompt) -> Vec<&str> {
    prompt.skills.iter().map(|skill| shown(skill.document.path())).collect()
}

/// Returns the files that are left out, in order, each with the reason.
pub(crate) fn left_out(prompt: &Prompt) -> Vec<(&str, String)> {
    let left_out = prompt.left_out.iter();
    left_out.map(|left| (shown(left.document.path()), left.reason.to_string())).collect()
}

/// The warnings, in order: `file:line code message`.
pub(crate) fn warnings(prompt: &Prompt) -> Vec<String> {
    let notes = prompt.diagnostics.iter();
    notes
        .map(|note| {
            let (path, line) = (shown(note.path()), note.position().line);
            format!("{path}:{line} {} {}", note.code(), note.message)
        })
        .collect()
}

/// The codes of the warnings, in order, each with its file and line.
pub(crate) fn codes(prompt: &Prompt) -> Vec<String> {
    let notes = prompt.diagnostics.iter();
    notes
        .map(|note| format!("{}:{} {}", shown(note.path()), note.position().line, note.code()))
        .collect()
}

/// A path as the tests write it: those of the project without `/p/`.
pub(crate) fn shown(path: &Path) -> &str {
    path.strip_prefix("/p").unwrap_or(path).to_str().unwrap()
}
