//! The fields of a command. Commands are an extension of this project.

use brief_syntax::{Span, rules};

use super::arguments::{self, Argument, MOST_ARGUMENTS};
use super::fields::ItemFields;

impl ItemFields<'_> {
    /// Our own kind: `arguments` names what the user writes after the command.
    pub(super) fn check_command(&mut self) {
        if let Some(node) = self.field("arguments") {
            let names = self.collect_texts("arguments", node);
            for (index, (name, node)) in names.iter().enumerate() {
                self.check_name(name, node.span());
                if names[..index].iter().any(|(other, _)| other == name) {
                    let message = format!("duplicate argument `{name}`");
                    let help = "rename one of them";
                    self.report_problem(rules::item::INVALID_ARGUMENT, node.span(), message, help);
                }
            }
            if names.len() > MOST_ARGUMENTS {
                let message = format!(
                    "the command has {} arguments; the limit is {MOST_ARGUMENTS}",
                    names.len()
                );
                let help = "use `$ARGUMENTS` for all of them";
                self.report_problem(rules::item::INVALID_ARGUMENT, node.span(), message, help);
            }
            let declared = names.len();
            let start = self.document.body_start();
            for (span, argument) in arguments::find_arguments(self.document.body(), declared) {
                if let Argument::Unknown(number) = argument {
                    let span = Span::new(start + span.start, start + span.end);
                    let message =
                        format!("`${number}` is not an argument: `arguments` has {declared}");
                    let help =
                        format!("add it to `arguments`, or write `\\${number}` for the text");
                    self.report_problem(rules::item::INVALID_ARGUMENT, span, message, &help);
                }
            }
        }
        if let Some(node) = self.field("argument-hint").filter(|node| node.as_str().is_none()) {
            self.wrong_type("argument-hint", node, "a string");
        }
        self.agent_model();
        let message =
            "other programs do not compile commands, which are an extension of the format";
        let help = "write a skill for users of other programs";
        self.report_problem(rules::item::COMMAND_EXTENSION, Span::default(), message, help);
    }
}
