//! The field tables of a client, read from right to left.

use std::collections::BTreeMap;

use brief_dialects::portable::{AgentMode, CAPABILITIES, ToolCapability, capability_of};

use crate::compile::yaml::{YamlValue, parts_of, text_of};
use crate::profile::{Profile, Shape};

/// Returns the capabilities for a client's tools, and the tools that the format has no word for.
pub(super) fn translate_tools(
    value: &YamlValue,
    shape: Shape,
    profile: &Profile,
) -> Option<(Vec<&'static str>, Vec<String>)> {
    let names = match shape {
        Shape::AllowMap | Shape::OnlyMap => collect_allowed_names(value, shape)?,
        _ => parts_of(value)?,
    };
    // All tools: what the format says by saying nothing.
    if names.iter().any(|name| name == "*") {
        return None;
    }
    let mut capabilities: Vec<&str> = Vec::new();
    let mut others = Vec::new();
    for name in names {
        let is_it = |own: &&ToolCapability| {
            profile.tools.get(own.0).is_some_and(|of_client| *of_client == name)
        };
        let mut known: Vec<&str> = CAPABILITIES.iter().filter(is_it).map(|own| own.0).collect();
        if known.is_empty() {
            // A part of a tool, such as `Bash(git:*)`, or another name for it.
            known.extend(capability_of(&name));
            others.push(name);
        }
        for capability in known {
            if !capabilities.contains(&capability) {
                capabilities.push(capability);
            }
        }
    }
    Some((capabilities, others))
}

/// Returns the names that a map allows; `None` if it says more than that.
fn collect_allowed_names(value: &YamlValue, shape: Shape) -> Option<Vec<String>> {
    let YamlValue::Map(fields) = value else { return None };
    let mut names = Vec::new();
    for (index, (name, permission)) in fields.iter().enumerate() {
        match (text_of(name)?, text_of(permission)?) {
            ("*", "deny") if index == 0 && shape == Shape::OnlyMap => {}
            (name, "allow") if name != "*" => names.push(name.to_owned()),
            _ => return None,
        }
    }
    let is_closed = shape != Shape::OnlyMap
        || fields.first().is_some_and(|(name, _)| text_of(name) == Some("*"));
    is_closed.then_some(names)
}

/// Returns the format's name of a client's model.
pub(super) fn find_model_alias<'m>(
    name: &str,
    models: &'m BTreeMap<String, String>,
) -> Option<&'m str> {
    models.iter().find(|(_, own)| own.as_str() == name).map(|(alias, _)| alias.as_str())
}

/// Returns the mode of an agent.
pub(super) fn parse_agent_mode(value: &YamlValue) -> Option<&'static str> {
    Some(AgentMode::from_name(text_of(value)?)?.as_str())
}
