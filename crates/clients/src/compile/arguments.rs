//! The arguments of a command, in the syntax of a client.

use std::collections::{BTreeMap, BTreeSet};

use brief_dialects::portable::arguments::{self, Argument};
use brief_syntax::{Diagnostic, Span, rules};

use crate::profile::ArgumentForms;

use super::ItemCompiler;
use super::fields::has_override;
use super::yaml::YamlValue;

impl ItemCompiler<'_> {
    /// Returns the body with the client's words for arguments. An argument that the client cannot tell from
    /// the others becomes all of them, and one that it does not have at all stays as it is; both are said.
    pub(super) fn with_arguments(
        &self,
        body: &str,
        forms: &ArgumentForms,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> String {
        let names = self.item.arguments();
        let mut output = String::with_capacity(body.len());
        let mut lost: BTreeSet<String> = BTreeSet::new();
        let mut copied = 0;
        for (span, argument) in arguments::find_arguments(body, names.len()) {
            let written = &body[span.start..span.end];
            let own = match argument {
                Argument::All => forms.all.clone(),
                Argument::Position(position) => {
                    forms.render_argument(position, names.get(position - 1).copied())
                }
                Argument::Unknown(_) => None,
                Argument::Dollar if forms.one.is_none() => Some("$".to_owned()),
                Argument::Dollar => forms.dollar.clone(),
            };
            output.push_str(&forms.escape_text(&body[copied..span.start]));
            copied = span.end;
            let text = match (own, argument) {
                (Some(own), _) => own,
                (None, Argument::Dollar) => {
                    lost.insert("a literal `$` before a number".to_owned());
                    "$".to_owned()
                }
                (None, _) => {
                    lost.insert(format!("`{written}`"));
                    forms.all.clone().unwrap_or_else(|| written.to_owned())
                }
            };
            output.push_str(&text);
        }
        output.push_str(&forms.escape_text(&body[copied..]));
        if !lost.is_empty() {
            let lost: Vec<String> = lost.into_iter().collect();
            let instead = match &forms.all {
                Some(all) => format!("each number becomes `{all}`, the whole user input"),
                None => "the user input follows the prompt".to_owned(),
            };
            let message = format!(
                "{} has no syntax for {} of the {}; {instead}",
                self.profile.name(),
                lost.join(", "),
                self.item.id()
            );
            let help = "use `$ARGUMENTS`, or write a body for that client";
            diagnostics.push(
                self.item_warning(rules::item::ARGUMENT_DROPPED, Span::default(), message)
                    .with_help(help),
            );
        }
        output
    }

    /// Returns the arguments that the body names, as parameters; `None` for none. A body of the client's own comes with
    /// parameters in the client's block.
    pub(super) fn build_parameters(&self, forms: &ArgumentForms) -> Option<YamlValue> {
        if has_override(self.item, self.profile.id()) {
            return None;
        }
        let names = self.item.arguments();
        let body = self.item.body_for(self.profile.id(), self.clients);
        let mut keys: BTreeMap<usize, String> = BTreeMap::new();
        for (_, argument) in arguments::find_arguments(&body, names.len()) {
            let (position, written) = match argument {
                // A number that is not declared becomes all arguments.
                Argument::All | Argument::Unknown(_) => (0, forms.all.clone()),
                Argument::Position(position) => {
                    (position, forms.render_argument(position, names.get(position - 1).copied()))
                }
                Argument::Dollar => continue,
            };
            let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
            let key =
                written.map(|written| written.trim_matches(|letter| !is_part(letter)).to_owned());
            keys.extend(key.map(|key| (position, key)));
        }
        let text = |text: &str| YamlValue::from_text(text);
        let parameter = |(position, key): (usize, String)| {
            let what = match position {
                0 => "What the user wrote after the command".to_owned(),
                position => format!("Argument {position}"),
            };
            YamlValue::Map(vec![
                (text("key"), YamlValue::Text(key)),
                (text("input_type"), text("string")),
                (text("requirement"), text("optional")),
                (text("description"), YamlValue::Text(what)),
                (text("default"), text("")),
            ])
        };
        let list: Vec<YamlValue> = keys.into_iter().map(parameter).collect();
        (!list.is_empty()).then_some(YamlValue::List(list))
    }
}
