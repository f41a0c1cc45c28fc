//! The arguments of a command, in the syntax of a client.

use std::collections::BTreeSet;

use brief_dialects::portable::arguments::{self, Argument};
use brief_syntax::{Diagnostic, Span, rules};

use crate::profile::ArgumentForms;

use super::Compiler;

impl Compiler<'_> {
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
        for (span, argument) in arguments::find(body, names.len()) {
            let written = &body[span.start..span.end];
            let own = match argument {
                Argument::All => forms.all.clone(),
                Argument::Position(position) => {
                    forms.one(position, names.get(position - 1).copied())
                }
                Argument::Unknown(_) => None,
                Argument::Dollar if forms.one.is_none() => Some("$".to_owned()),
                Argument::Dollar => forms.dollar.clone(),
            };
            output.push_str(&body[copied..span.start]);
            copied = span.end;
            let text = match (own, argument) {
                (Some(own), _) => own,
                (None, Argument::Dollar) => {
                    lost.insert("`$` before a number as text".to_owned());
                    "$".to_owned()
                }
                (None, _) => {
                    lost.insert(format!("`{written}`"));
                    forms.all.clone().unwrap_or_else(|| written.to_owned())
                }
            };
            output.push_str(&text);
        }
        output.push_str(&body[copied..]);
        if !lost.is_empty() {
            let lost: Vec<String> = lost.into_iter().collect();
            let instead = match &forms.all {
                Some(all) => format!("a number becomes `{all}`, all that the user wrote"),
                None => "the user's text follows the prompt".to_owned(),
            };
            let message = format!(
                "{} has no words for {} of the {}; {instead}",
                self.profile.name(),
                lost.join(", "),
                self.item.id()
            );
            let help = "use `$ARGUMENTS`, or write a body for that client";
            diagnostics.push(
                self.warning(rules::portable::ARGUMENT_DROPPED, Span::default(), message)
                    .with_help(help),
            );
        }
        output
    }
}
