//! The settings that change what a client loads: those of the machine and of the user, and a switch that a project has, too.
//!
//! The names and the words are facts of the client's file (`[loading.modes]`).

use brief_profiles::{BUILTIN, Client, LoadingMode, LoadingModes, Text};
use brief_syntax::limits;
use brief_system::System;
use jsonc_parser::ast::Value;

use super::read::Level;
use super::settings::{Setting, with_object};

/// The files of settings, by what counts first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum SettingsRank {
    User,
    /// In the project, for everyone.
    Project,
    /// In the project, for one user.
    Local,
    Machine,
}

/// Returns the settings of the user and of the machine about what clients load.
pub(super) fn of_user(system: &dyn System, level: Level<'_>) -> Vec<Setting> {
    let mut found = Vec::new();
    for (client, modes) in clients_with_modes() {
        let mut read = Options::default();
        let mut look = |path: &std::path::Path, rank| {
            let Ok(bytes) = system.read(path, limits::FILE_BYTES) else { return };
            let text = String::from_utf8_lossy(&bytes);
            found.extend(parse_switch(client, modes, &text, rank));
            read.add_settings(modes, &text);
        };
        for path in modes.home.iter().filter(|path| (level.has)(first_name(path))) {
            look(&level.path.join(&**path), SettingsRank::User);
        }
        if let Some(path) = machine_file(modes) {
            look(std::path::Path::new(&**path), SettingsRank::Machine);
        }
        let mode = read.find_mode(modes).and_then(|name| mode_named(modes, name));
        found.extend(mode.map(|mode| Setting::Mode { client: &client.id, mode }));
    }
    found
}

/// Returns the switch in a project's settings.
pub(super) fn of_project(client: &str, text: &str, rank: SettingsRank) -> Option<Setting> {
    let (client, modes) = clients_with_modes().find(|(known, _)| *known.id == *client)?;
    parse_switch(client, modes, text, rank)
}

/// Returns the mode that a client is in, from the settings that concern it.
pub(super) fn in_force<'s>(
    client: &Client,
    settings: impl Iterator<Item = &'s Setting>,
) -> Option<&'static LoadingMode> {
    client.loading.modes.as_ref()?;
    let modes = clients_with_modes().find(|(known, _)| known.id == client.id)?.1;
    let (mut chosen, mut switched) = (None, None);
    for setting in settings {
        match setting {
            Setting::Mode { client: of, mode } if **of == *client.id => chosen = Some(*mode),
            Setting::Switch { client: of, is_on, rank } if **of == *client.id => {
                switched = switched.max(Some((*rank, *is_on)));
            }
            _ => {}
        }
    }
    match (switched, &modes.switch) {
        (Some((_, false)), Some(switch)) => mode_named(modes, &switch.mode),
        _ => chosen,
    }
}

/// Returns the built-in clients that have such a setting. Settings outlive the question that they were read for.
fn clients_with_modes() -> impl Iterator<Item = (&'static Client, &'static LoadingModes)> {
    BUILTIN.clients.iter().filter_map(|client| Some((client, client.loading.modes.as_ref()?)))
}

fn mode_named(modes: &'static LoadingModes, name: &str) -> Option<&'static LoadingMode> {
    modes.modes.iter().find(|mode| *mode.name == *name)
}

fn first_name(path: &str) -> &str {
    path.split('/').next().unwrap_or(path)
}

fn machine_file(modes: &LoadingModes) -> Option<&Text> {
    let machine = modes.machine.as_ref()?;
    Some(if cfg!(windows) {
        &machine.windows
    } else if cfg!(target_os = "macos") {
        &machine.macos
    } else {
        &machine.linux
    })
}

/// The options about the mode, by their names; a later file counts before an earlier one.
#[derive(Default)]
struct Options {
    named: Option<String>,
    former: Option<String>,
}

impl Options {
    fn add_settings(&mut self, modes: &LoadingModes, text: &str) {
        // Most settings say nothing about it.
        if !modes.table.last().is_some_and(|key| text.contains(&**key)) {
            return;
        }
        let _ = with_object(text, |settings| {
            let mut table = settings;
            for key in &modes.table {
                match table.get_object(key) {
                    Some(inner) => table = inner,
                    None => return,
                }
            }
            let word = |key: &str| {
                let found = table.get(key)?;
                // A value that is no text is no mode, and hides the one of the user.
                Some(
                    found
                        .value
                        .as_string_lit()
                        .map_or(String::new(), |text| text.value.to_string()),
                )
            };
            self.named = word(&modes.key).or(self.named.take());
            let former = modes.former.as_ref().and_then(|former| word(&former.key));
            self.former = former.or(self.former.take());
        });
    }

    /// Returns the name of the mode; `None` where nothing is set.
    fn find_mode<'m>(&'m self, modes: &'m LoadingModes) -> Option<&'m str> {
        let known = self.named.as_deref().filter(|name| mode_is_known(modes, name));
        let named = known.unwrap_or(&modes.usual);
        match (&self.former, &modes.former) {
            (Some(word), Some(former)) if named == &*modes.usual => {
                let meant = former.words.iter().find(|known| *known.word == **word);
                Some(meant.map_or(&former.usual, |meant| &meant.mode))
            }
            _ => self.named.as_ref().map(|_| named),
        }
    }
}

fn mode_is_known(modes: &LoadingModes, name: &str) -> bool {
    modes.modes.iter().any(|mode| *mode.name == *name)
}

fn parse_switch(
    client: &'static Client,
    modes: &LoadingModes,
    text: &str,
    rank: SettingsRank,
) -> Option<Setting> {
    let switch = modes.switch.as_ref().filter(|switch| text.contains(&*switch.key))?;
    let is_on = with_object(text, |settings| {
        let value = &settings.get_object(&switch.table)?.get(&switch.key)?.value;
        match value {
            Value::BooleanLit(flag) => Some(flag.value),
            _ => None,
        }
    })??;
    Some(Setting::Switch { client: &client.id, is_on, rank })
}
