//! `brief agent debug abilities`

use brief_engine::agents::{Ability, Base, Effective};
use serde_json::{Map, Value, json};

use super::{ensure_usable, print_json, read_agent};
use crate::agent::{AgentAbilitiesArgs, parse_abilities};
use crate::error::Result;
use crate::session::Session;
use crate::ui::Ui;

pub(super) fn run(ui: &mut Ui, session: &Session, args: &AgentAbilitiesArgs) -> Result {
    let grant = args.granting.granted_abilities()?;
    let wants = match args.wants.as_slice() {
        [] => Base::ALL.map(Ability::Base).to_vec(),
        names => parse_abilities("--want", names)?,
    };
    let loaded = read_agent(ui, session, &args.file)?;
    let agent = ensure_usable(ui, session, &loaded)?;
    let effective = Effective::new(&grant, &agent.abilities);
    let mut answers: Map<String, Value> = Map::new();
    for (number, want) in wants.iter().enumerate() {
        // The spelling of the option, so that the caller finds it.
        let name = args.wants.get(number).cloned().unwrap_or_else(|| want.to_string());
        answers.insert(name, effective.has_ability(want).into());
    }
    if args.json {
        let body = json!({ "granted": answers });
        print_json(ui, session, "agent debug abilities", loaded.diagnostics(), body)?;
    } else {
        for ((name, is_granted), want) in answers.iter().zip(&wants) {
            let asked = std::slice::from_ref(want);
            let state = match Effective::new(asked, &agent.abilities).has_ability(want) {
                _ if *is_granted == true => "yes".to_owned(),
                true => format!("no: allowed by the file, but not granted (`--grant {want}`)"),
                false => "no: the file does not allow it".to_owned(),
            };
            ui.print_line(format!("{name}: {state}"))?;
        }
    }
    Ok(())
}
