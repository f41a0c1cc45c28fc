//! `brief agent abilities`

use brief_engine::agents::{Ability, Base, Effective};
use clap::Args;
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

use super::{Granting, OneFile, parse_abilities, print_json, read, usable};
use crate::error::Result;
use crate::session::Session;
use crate::ui::Ui;

/// Show the abilities of an agent: the granted ones that its file allows and does not deny
#[derive(Debug, Args)]
pub(super) struct AbilitiesArgs {
    #[command(flatten)]
    file: OneFile,

    #[command(flatten)]
    granting: Granting,

    /// Ask about this ability; may be repeated [default: all without a scope]
    #[arg(long = "want", value_name = "ABILITY")]
    wants: Vec<String>,

    /// Print JSON: each ability with `true` or `false`
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Serialize)]
struct JsonAbilities<'a> {
    granted: Granted<'a>,
}

/// The abilities as keys, in the order of the options.
#[derive(Debug)]
struct Granted<'a>(&'a [(String, bool)]);

impl Serialize for Granted<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, is_granted) in self.0 {
            map.serialize_entry(name, is_granted)?;
        }
        map.end()
    }
}

pub(super) fn run(ui: &mut Ui, session: &Session, args: &AbilitiesArgs) -> Result {
    let grant = args.granting.abilities()?;
    let wants = match args.wants.as_slice() {
        [] => Base::ALL.map(Ability::Base).to_vec(),
        names => parse_abilities("--want", names)?,
    };
    let loaded = read(ui, session, &args.file)?;
    let agent = usable(ui, session, &loaded)?;
    let effective = Effective::new(&grant, &agent.abilities);
    let mut answers: Vec<(String, bool)> = Vec::new();
    for (number, want) in wants.iter().enumerate() {
        // The spelling of the option, so that the caller finds it.
        let name = args.wants.get(number).cloned().unwrap_or_else(|| want.to_string());
        if answers.iter().all(|(known, _)| *known != name) {
            answers.push((name, effective.has(want)));
        }
    }
    if args.json {
        let body = JsonAbilities { granted: Granted(&answers) };
        print_json(ui, session, "agent abilities", loaded.diagnostics(), body)?;
    } else {
        for (name, is_granted) in &answers {
            ui.print_line(format!("{name}: {}", if *is_granted { "yes" } else { "no" }))?;
        }
    }
    Ok(())
}
