//! Installed hooks: the files that have one, and whether the client would run it.

use std::path::{Path, PathBuf};

use brief_profiles::{Client, HookInstall, HookSwitch};
use brief_syntax::limits;
use brief_system::{FileKind, System, resolved_home};

use super::guard::{options_after, program_word};
use super::install::{FAIL_CLOSED, HookFile, InstallChoice, build_hook_files};
use crate::client_file::{ClientFile, ClientFileError};
use crate::json_text::JsonText;

/// A file that sets a client's hook up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstalledHook {
    /// The path below the base.
    pub file: String,
    /// The project, its main checkout or the home directory, absolute.
    pub base: PathBuf,
    /// The place of the file.
    pub scope: HookScope,
    /// True for the file of a project that a team commits.
    pub is_shared: bool,
    /// The commands of ours in the file without what guards them, each once.
    pub commands: Vec<String>,
    /// True if the user has approved the hook; `None` where the client does not ask, or keeps the answer to itself.
    pub approved: Option<bool>,
    /// The programs of the commands, each once.
    pub programs: Vec<HookProgram>,
    /// True if a program that is missing, crashes or hangs does not stop the client.
    pub is_guarded: bool,
    /// The setting of the client that switches its hooks off.
    pub switched_off: Option<SwitchedOff>,
}

/// The place of a hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HookScope {
    Project,
    /// For the repository of which the project is a worktree: the file is in the main checkout.
    MainCheckout,
    /// For all projects of the user.
    Home,
}

/// The program that a hook runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookProgram {
    /// The program as the command names it.
    pub name: String,
    /// False if the shell would not find it. True where only a shell can tell.
    pub is_found: bool,
}

/// A setting that switches hooks off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SwitchedOff {
    /// The file, below the project or the home directory.
    pub file: String,
    /// The place of the file.
    pub scope: HookScope,
    /// The key, such as `hooksConfig.enabled`.
    pub key: String,
}

/// Returns a file for a message: `~/…` below the home directory.
fn shown_file(scope: HookScope, file: &str) -> String {
    match scope {
        HookScope::Project | HookScope::MainCheckout => file.to_owned(),
        HookScope::Home => format!("~/{file}"),
    }
}

impl SwitchedOff {
    /// Returns the file for a message: `~/…` below the home directory.
    pub fn shown_file(&self) -> String {
        shown_file(self.scope, &self.file)
    }
}

impl InstalledHook {
    /// Returns the file for a message: `~/…` below the home directory, absolute in another checkout.
    pub fn shown_file(&self) -> String {
        match self.scope {
            HookScope::MainCheckout => self.base.join(&self.file).display().to_string(),
            scope => shown_file(scope, &self.file),
        }
    }

    /// Returns whether the client runs the hook: approved as far as known, found, and not switched off.
    pub fn is_active(&self) -> bool {
        self.approved != Some(false)
            && self.switched_off.is_none()
            && self.programs.iter().all(|program| program.is_found)
    }

    /// Returns the first program that a shell would not find.
    pub fn missing_program(&self) -> Option<&str> {
        self.programs.iter().find(|program| !program.is_found).map(|program| &*program.name)
    }

    /// Returns the file as this version writes it, with the program and the options that it has; `None` if the client
    /// does not know the file any more.
    pub fn current_file(
        &self,
        system: &dyn System,
        client: &Client,
        base: &Path,
    ) -> Option<HookFile> {
        let install = client.hook.as_ref()?.install.as_ref()?;
        let command = self.commands.first()?;
        let options = options_after(command, &hook_command(client))?;
        let program = command.strip_suffix(options)?;
        let mut rest = options.to_owned();
        if install.names_event
            && let Some(after) = options.strip_prefix(" --event ")
        {
            rest = after.find(' ').map_or_else(String::new, |end| after[end..].to_owned());
        }
        let fails_closed = rest.contains(FAIL_CLOSED);
        let rest = rest.replace(FAIL_CLOSED, "");
        let choice = |is_elsewhere| InstallChoice {
            program,
            options: &rest,
            is_global: self.scope == HookScope::Home,
            // The option of hooks that an earlier version installed.
            holds: rest.contains(" --block-once") || rest.contains(" --hold"),
            is_elsewhere,
            is_shared: self.is_shared,
            fails_closed,
        };
        let mut all = build_hook_files(client, choice(false)).unwrap_or_default();
        if is_elsewhere(system, client, base).unwrap_or(false) {
            all.extend(build_hook_files(client, choice(true)).unwrap_or_default());
        }
        all.into_iter().find(|file| file.path == self.file)
    }
}

/// Finds the files that set the hook of a client up, in a project and for all projects.
///
/// A file that cannot be read has no hook. Nothing is executed.
pub fn find_installed_hooks(
    system: &dyn System,
    client: &Client,
    root: &Path,
    home: Option<&Path>,
) -> Vec<InstalledHook> {
    let mut found = Vec::new();
    let switched_off = switched_off(system, client, root, home);
    let install = client.hook.as_ref().and_then(|hook| hook.install.as_ref());
    let counts = install.filter(|install| install.worktrees.is_some());
    let main = counts.and_then(|_| find_main_checkout(system, root));
    let is_ignored =
        main.is_some() && install.is_some_and(|install| install.main_checkout_only.is_some());
    // Codex looks for the hook of the main checkout only where the worktree has a directory of this name.
    let has_directory = |install: &HookInstall| match Path::new(&*install.file).parent() {
        Some(directory) => system.resolve(&root.join(directory)).is_ok(),
        None => true,
    };
    let main = main.filter(|_| !is_ignored || install.is_none_or(has_directory));
    let bases = [
        (Some(root).filter(|_| !is_ignored), HookScope::Project),
        (main.as_deref(), HookScope::MainCheckout),
        (home, HookScope::Home),
    ];
    for (base, scope) in bases {
        let Some(base) = base else { continue };
        let program = hook_command(client);
        let files = possible_files(system, client, (base, scope), &program).unwrap_or_default();
        let is_private = install.is_some_and(|install| install.private);
        let shared = install.and_then(|install| install.shared.as_ref());
        for file in &files {
            let Ok(on_disk) = ClientFile::open(system, base, &file.path) else { continue };
            let Some(text) = on_disk.text() else { continue };
            if !matches!(file.uninstall(text), Ok(Some(_))) {
                continue;
            }
            let commands = file.installed_commands(text);
            let mut programs: Vec<HookProgram> = Vec::new();
            for command in &commands {
                let program = find_program(system, command, root);
                if !programs.contains(&program) {
                    programs.push(program);
                }
            }
            found.push(InstalledHook {
                approved: find_approval(system, client, &base.join(&file.path), root),
                file: file.path.clone(),
                is_shared: scope != HookScope::Home
                    && (!is_private || shared.is_some_and(|shared| *shared.file == *file.path)),
                base: base.to_owned(),
                scope,
                is_guarded: file.is_guarded(text),
                commands,
                programs,
                switched_off: switched_off.clone(),
            });
        }
    }
    found
}

/// Returns the command that a client runs, without options.
pub fn hook_command(client: &Client) -> String {
    let install = client.hook.as_ref().and_then(|hook| hook.install.as_ref());
    let named = install.and_then(|install| install.named.as_ref()).unwrap_or(&client.id);
    format!("brief hook {named}")
}

/// Returns all files below `base` that may have the hook, however it was installed.
pub fn possible_files(
    system: &dyn System,
    client: &Client,
    (base, scope): (&Path, HookScope),
    program: &str,
) -> Result<Vec<HookFile>, (String, ClientFileError)> {
    let choice = |is_elsewhere, is_shared| InstallChoice {
        program,
        options: "",
        is_global: scope == HookScope::Home,
        holds: true,
        is_elsewhere,
        is_shared,
        fails_closed: false,
    };
    let mut all = build_hook_files(client, choice(false, false)).unwrap_or_default();
    if is_elsewhere(system, client, base)? {
        all.extend(build_hook_files(client, choice(true, false)).unwrap_or_default());
    }
    let install = client.hook.as_ref().and_then(|hook| hook.install.as_ref());
    if scope != HookScope::Home && install.is_some_and(|install| install.shared.is_some()) {
        all.extend(build_hook_files(client, choice(false, true)).unwrap_or_default());
    }
    Ok(all)
}

/// Returns whether the file that counts instead has hooks of its own, while ours does not exist. An error names the file.
pub fn is_elsewhere(
    system: &dyn System,
    client: &Client,
    base: &Path,
) -> Result<bool, (String, ClientFileError)> {
    let install = client.hook.as_ref().and_then(|hook| hook.install.as_ref());
    let Some(install) = install else { return Ok(false) };
    let Some(unless) = &install.unless else { return Ok(false) };
    let text = |name: &str| {
        let file = ClientFile::open(system, base, name);
        file.map(|file| file.text().map(str::to_owned)).map_err(|error| (name.to_owned(), error))
    };
    Ok(text(&install.file)?.is_none()
        && text(unless)?.is_some_and(|text| text.contains("\"hooks\"")))
}

/// Returns the main checkout of the repository that a directory is a worktree of; `None` for any other directory.
pub fn find_main_checkout(system: &dyn System, root: &Path) -> Option<PathBuf> {
    let line = |path: &Path| {
        let bytes = system.read(path, limits::FILE_BYTES).ok()?;
        Some(String::from_utf8(bytes).ok()?.trim().to_owned())
    };
    let own = root.join(line(&root.join(".git"))?.strip_prefix("gitdir:")?.trim());
    // A submodule has no such file.
    let common = own.join(line(&own.join("commondir"))?);
    let common = system.resolve(&common).ok().filter(|found| found.kind == FileKind::Directory)?;
    let is_git = common.path.file_name().is_some_and(|name| name == ".git");
    common.path.parent().filter(|main| is_git && *main != root).map(Path::to_owned)
}

/// Returns whether the user has approved a client's hook in a file; `None` where the client does not ask, or keeps the
/// answer to itself.
pub fn find_approval(
    system: &dyn System,
    client: &Client,
    file: &Path,
    root: &Path,
) -> Option<bool> {
    let install = client.hook.as_ref()?.install.as_ref()?;
    let mark = install.approval.as_ref()?;
    let home = resolved_home(system)?;
    // A user's own file needs no trust in a folder.
    if install.top_only && file.starts_with(&home) && !file.starts_with(root) {
        return None;
    }
    let text = system.read(&home.join(&*mark.file), limits::FILE_BYTES).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let has = mark.has.replace("{file}", &file.to_string_lossy());
    let levels = if mark.inherits { usize::MAX } else { 1 };
    for directory in root.ancestors().take(levels) {
        let directory = directory.to_string_lossy();
        if text.contains(&has.replace("{project}", &directory)) {
            return Some(true);
        }
        // The nearest decision counts.
        if text.contains(&format!("\"{directory}\"")) {
            break;
        }
    }
    Some(false)
}

/// Looks the program of a command up as a shell in `root` does.
fn find_program(system: &dyn System, command: &str, root: &Path) -> HookProgram {
    let Some(word) = program_word(command) else {
        return HookProgram { name: command.to_owned(), is_found: true };
    };
    let name = word.trim_matches(['"', '\'']);
    HookProgram { name: name.to_owned(), is_found: is_program_on_path(system, name, root) }
}

/// Returns whether a shell in `directory` would find a program.
pub fn is_program_on_path(system: &dyn System, name: &str, directory: &Path) -> bool {
    let is_program = |path: &Path| {
        system.resolve(path).is_ok_and(|found| found.kind == FileKind::File)
            && system.is_executable(path).unwrap_or(true)
    };
    let with_ending = |path: PathBuf| {
        let suffix = std::env::consts::EXE_SUFFIX;
        is_program(&path) || {
            let mut longer = path.into_os_string();
            longer.push(suffix);
            !suffix.is_empty() && is_program(Path::new(&longer))
        }
    };
    if name.contains(std::path::is_separator) {
        return with_ending(directory.join(name));
    }
    let Some(path) = system.env("PATH") else { return false };
    std::env::split_paths(&path).any(|above| with_ending(directory.join(above).join(name)))
}

/// Finds the setting that switches the hooks of a client off. The first file with the key decides.
fn switched_off(
    system: &dyn System,
    client: &Client,
    root: &Path,
    home: Option<&Path>,
) -> Option<SwitchedOff> {
    let switch = client.hook.as_ref()?.install.as_ref()?.switch.as_ref()?;
    let project = switch.files.iter().map(|file| (root, HookScope::Project, file));
    let home = home
        .into_iter()
        .flat_map(|home| switch.home.iter().map(move |file| (home, HookScope::Home, file)));
    for (base, scope, file) in project.chain(home) {
        let Ok(on_disk) = ClientFile::open(system, base, file) else { continue };
        let Some(value) = on_disk.text().and_then(|text| switch_value(switch, file, text)) else {
            continue;
        };
        return (value == switch.off).then(|| SwitchedOff {
            file: file.to_string(),
            scope,
            key: switch.key.to_string(),
        });
    }
    None
}

/// Returns the value of a switch in a file; `None` if it is not there, or is neither true nor false.
fn switch_value(switch: &HookSwitch, file: &str, text: &str) -> Option<bool> {
    let keys = switch.key.split('.');
    if Path::new(file).extension().is_some_and(|ending| ending == "toml") {
        let document: toml_edit::DocumentMut = text.parse().ok()?;
        let mut item = document.as_item();
        for key in keys {
            item = item.get(key)?;
        }
        return item.as_bool();
    }
    let json = JsonText::parse(text).ok()?;
    let mut value = &json.value;
    for key in keys {
        value = &value.as_object()?.get(key)?.value;
    }
    value.as_boolean_lit().map(|flag| flag.value)
}
