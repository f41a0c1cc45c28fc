//! Hooks that do not work: switched off on this machine, not found, not approved, or not guarded.

use std::collections::BTreeSet;
use std::path::Path;

use brief_clients::hook::installed::{HookScope, find_installed_hooks};
use brief_clients::profile::ProfileScope;
use brief_profiles::{Client, find_program};
use brief_safety::settings::HookSettings;
use brief_system::{System, resolved_home};

use super::Examination;
use crate::error::Result;

impl Examination<'_> {
    /// Reports what switches all hooks off.
    fn report_hook_switches(&mut self) {
        let settings = HookSettings::load(self.session.system());
        let delivery = settings.delivery_switch();
        let enforcement = settings.enforcement_switch().filter(|switch| Some(*switch) != delivery);
        for (effect, switch) in [("deliver", delivery), ("enforce", enforcement)] {
            let Some(switch) = switch else { continue };
            let path = switch.path().map(|path| path.display().to_string());
            let message = format!("hooks {effect} nothing: {switch}");
            self.report_problem("hook", path.as_deref(), message, switch.find_fix());
        }
        for problem in &settings.problems {
            let path = problem.path().display().to_string();
            let help = problem.help.clone().unwrap_or_default();
            self.report_problem("hook", Some(&path), problem.message.as_str(), help);
        }
    }

    /// Reports installed hooks that do not work, or that can stop their client; with `asks_own` also those of a team that
    /// wait for this user's approval, which is no mistake of the project.
    pub(super) fn report_hooks(&mut self, asks_own: bool) -> Result {
        self.report_hook_switches();
        let system = self.session.system();
        let (root, home) = (self.session.repository_root()?, resolved_home(system));
        let is_global = self.installation.clients.scope() == ProfileScope::Home;
        let known = brief_profiles::OwnClients::read_project(system, root.path()).known_clients();
        let mut seen = BTreeSet::new();
        for client in &known.clients {
            for hook in find_installed_hooks(system, client, root.path(), home.as_deref()) {
                // Copilot's file is for two clients.
                if is_global && hook.scope != HookScope::Home || !seen.insert(hook.shown_file()) {
                    continue;
                }
                let (name, path) = (&client.name, hook.shown_file());
                if let Some(off) = &hook.switched_off {
                    let message = format!(
                        "{name} runs no hooks: `{}` is set in {}",
                        off.key,
                        off.shown_file()
                    );
                    self.report_problem(
                        "hook",
                        Some(&path),
                        message,
                        "change the setting, or run `brief hook uninstall`",
                    );
                } else if let Some(program) = hook.missing_program() {
                    let message =
                        format!("{name} gets nothing from the hook: `{program}` is not on PATH");
                    let help =
                        "copy it to a directory on PATH, or run `brief hook install --command`";
                    self.report_problem("hook", Some(&path), message, help);
                } else if asks_own
                    && hook.approved == Some(false)
                    && hook.is_shared
                    && is_for_this_user(system, client, home.as_deref())
                {
                    let message = format!("{name} skips the hook: you have not approved it");
                    let then = client.hook.as_ref().and_then(|hook| hook.install.as_ref());
                    let then = then.and_then(|install| install.then.as_ref());
                    let help = then.map(ToString::to_string).unwrap_or_default();
                    self.report_problem("hook", Some(&path), message, help);
                }
                if !hook.is_guarded {
                    let message = format!(
                        "{name} can stop working where `brief` is missing or fails: an earlier version installed the hook"
                    );
                    self.report_problem(
                        "hook",
                        Some(&path),
                        message,
                        "run `brief hook status --fix` to update it",
                    );
                }
            }
        }
        Ok(())
    }
}

/// Returns whether this user has a client: a hook that a team shares may be for another one.
fn is_for_this_user(system: &dyn System, client: &Client, home: Option<&Path>) -> bool {
    let is_there = |sign: &str| home.is_some_and(|home| system.resolve(&home.join(sign)).is_ok());
    let install = client.hook.as_ref().and_then(|hook| hook.install.as_ref());
    let program = install.and_then(|install| install.program.as_ref());
    client.home_signs.iter().any(|sign| is_there(sign))
        || program.is_some_and(|program| find_program(system, program).is_some())
}
