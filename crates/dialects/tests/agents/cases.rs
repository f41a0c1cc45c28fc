//! The conformance cases, as far as they need no JavaScript and no command line.

use brief_dialects::agents::{Ability, AgentView, Effective, Loaded};
use serde_json::{Value, json};

use super::support::{findings, loaded_from, project};

/// Cases that need the code of tools to be run: `tools`, `start` and `call`.
const NEED_CODE: [&str; 3] = ["tools", "start", "call"];

fn texts(value: &Value) -> Vec<String> {
    let list = value.as_array().map(Vec::as_slice).unwrap_or_default();
    list.iter().map(|text| text.as_str().unwrap().to_owned()).collect()
}

/// Returns whether all that is wanted is there; nothing may be missing instead of empty.
fn covers(wanted: &Value, found: &Value) -> bool {
    let is_empty = |value: &Value| {
        *value == Value::Null || *value == json!("") || *value == json!([]) || *value == json!({})
    };
    match (wanted, found) {
        (Value::Object(wanted), Value::Object(found)) => wanted
            .iter()
            .all(|(name, value)| found.get(name).is_some_and(|found| covers(value, found))),
        _ => wanted == found || (is_empty(wanted) && is_empty(found)),
    }
}

fn load(case: &Value) -> Loaded {
    let mut system = project();
    for (path, text) in case["files"].as_object().unwrap() {
        system = system.with_file(path, text.as_str().unwrap());
    }
    loaded_from(&system, case["query"]["agent"].as_str().unwrap())
}

/// The differences from the expectation.
fn difference(case: &Value) -> Option<String> {
    let (expect, query) = (&case["expect"], &case["query"]);
    let loaded = load(case);
    let found = findings(&loaded).join("; ");
    let message = |text: &str| {
        let wanted = expect["message_contains"].as_str().unwrap_or_default();
        (!text.contains(wanted)).then(|| format!("`{wanted}` is not in: {text}"))
    };
    let Some(agent) = loaded.agent() else {
        return if expect["ok"] == true { Some(found) } else { message(&found) };
    };
    let mut shown = serde_json::to_value(AgentView::new(agent, &[])).unwrap();
    let mut refused = None;
    match case["op"].as_str().unwrap() {
        "render" => match agent.render(None) {
            Ok(rendered) => {
                let view = AgentView::new(agent, &[]).with_rendered(&rendered, None);
                shown = serde_json::to_value(view).unwrap();
            }
            Err(problems) => refused = Some(problems[0].message.clone()),
        },
        "invoke" => {
            let command = agent.find_command(query["command"].as_str().unwrap()).unwrap();
            match command.invoke(&texts(&query["args"])) {
                Ok(text) if expect["ok"] == true => {
                    let wanted = expect["text"].as_str().unwrap();
                    return (text != wanted).then_some(text);
                }
                Ok(text) => return Some(text),
                Err(error) => refused = Some(error.to_string()),
            }
        }
        "ability" => {
            let parsed = |name: &String| name.parse::<Ability>().unwrap();
            let grant: Vec<Ability> = texts(&query["operator"]).iter().map(parsed).collect();
            let effective = Effective::new(&grant, &agent.abilities);
            for (name, wanted) in expect["granted"].as_object().unwrap() {
                if effective.has_ability(&parsed(name)) != wanted.as_bool().unwrap() {
                    return Some(format!("{name} is not {wanted}"));
                }
            }
        }
        _ => {}
    }
    if let Some(refused) = refused {
        return if expect["ok"] == true { Some(refused) } else { message(&refused) };
    }
    if expect["ok"] == false {
        return Some("it is accepted".to_owned());
    }
    let wanted = expect["agent"].as_object().cloned().unwrap_or_default();
    let same = covers(&Value::Object(wanted), &shown)
        && ["system", "rules"]
            .into_iter()
            .all(|name| expect[name].is_null() || expect[name] == shown[name]);
    (!same).then(|| shown.to_string())
}

#[test]
fn every_case_that_needs_no_code_is_as_expected() {
    let cases = include_str!("../../../../conformance/agents/cases.json");
    let cases: Vec<Value> = serde_json::from_str(cases).unwrap();
    let mut count = 0;
    for case in &cases {
        if NEED_CODE.contains(&case["op"].as_str().unwrap()) {
            continue;
        }
        count += 1;
        if let Some(difference) = difference(case) {
            panic!("{} {}: {difference}", case["id"], case["title"]);
        }
    }
    assert_eq!(count, 46);
}

/// Problems of the tools' code alone are found when it runs; the file itself is read.
#[test]
fn every_case_that_needs_code_is_read() {
    let cases = include_str!("../../../../conformance/agents/cases.json");
    let cases: Vec<Value> = serde_json::from_str(cases).unwrap();
    for case in cases.iter().filter(|case| NEED_CODE.contains(&case["op"].as_str().unwrap())) {
        let loaded = load(case);
        let agent =
            loaded.agent().unwrap_or_else(|| panic!("{}: {:?}", case["id"], findings(&loaded)));
        let has_code = agent.tools.is_some();
        assert_eq!(has_code, case["id"] != "A-064", "{}", case["id"]);
    }
}
