//! The texts for a model: system message and rules, rendered.
//!
//! Y11: only these two. Titles, descriptions, command texts and tool code are never rendered;
//! `{{…}}` in them is for the model. Y52: rendering follows parsing, so that no value can add a
//! section.

use brief_syntax::{Diagnostic, Severity, Span, rules};

use super::model::{Agent, AgentText, TemplateEngine, TextOrigin};
use super::template::{Template, TemplateProblem, TemplateProblemKind};
use super::value::AgentValue;

/// The rendered texts of an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rendered {
    pub system: String,
    /// The rules; may be empty.
    pub rules: String,
}

impl Agent {
    /// Renders the texts. `input` replaces the agent's own.
    ///
    /// An undefined name is an error that names it (Y13), and all of them are reported.
    pub fn render(&self, input: Option<&AgentValue>) -> Result<Rendered, Vec<Diagnostic>> {
        let input = input.unwrap_or(&self.input);
        let (system, rules) =
            (self.render_text(&self.system, input), self.render_text(&self.rules, input));
        match (system, rules) {
            (Ok(system), Ok(rules)) => Ok(Rendered { system, rules }),
            (system, rules) => {
                Err([system.err(), rules.err()].into_iter().flatten().map(|found| *found).collect())
            }
        }
    }

    fn render_text(&self, text: &AgentText, input: &AgentValue) -> Result<String, Box<Diagnostic>> {
        let is_template = self.template_engine == TemplateEngine::Handlebars
            && text.origin != TextOrigin::Elsewhere
            && text.text.contains("{{");
        if !is_template {
            return Ok(text.text.clone());
        }
        let rendered = Template::parse(&text.text).and_then(|template| template.render(input));
        rendered.map_err(|problem| Box::new(self.template_diagnostic(text.origin, &problem)))
    }

    fn template_diagnostic(&self, origin: TextOrigin, problem: &TemplateProblem) -> Diagnostic {
        let span = match origin {
            TextOrigin::Section(span) => {
                let start = span.start + problem.place.offset;
                Span::new(start, (start + problem.place.length).min(span.end.max(start)))
            }
            TextOrigin::Header(span) => span,
            TextOrigin::Elsewhere => Span::empty_at(0),
        };
        let (rule, help) = match &problem.kind {
            TemplateProblemKind::Syntax(_) => (
                rules::agent_file::TEMPLATE_INVALID,
                "write `\\{{` for literal braces, or turn templates off with `templateEngine: \"\"`",
            ),
            TemplateProblemKind::Undefined(_) => (
                rules::agent_file::TEMPLATE_UNDEFINED,
                "templates can use `input` and `ctx.input`; write `\\{{` for literal braces",
            ),
            TemplateProblemKind::NotText { .. } => (
                rules::agent_file::TEMPLATE_UNDEFINED,
                "name one of its fields, or iterate over it with `{{#each}}`",
            ),
            TemplateProblemKind::Limit(_) => {
                (rules::agent_file::TEMPLATE_LIMIT, "make the template or the input smaller")
            }
        };
        Diagnostic::new(rule, &self.source, span, problem.kind.to_string()).with_help(help)
    }

    /// Returns the problems with the agent's own input. A syntax error is an error; other problems
    /// depend on the input at run time and are warnings.
    pub(super) fn template_problems(&self) -> Vec<Diagnostic> {
        let mut found = self.render(None).err().unwrap_or_default();
        for diagnostic in &mut found {
            if diagnostic.rule != rules::agent_file::TEMPLATE_INVALID {
                diagnostic.severity = Severity::Warning;
            }
        }
        found
    }
}
