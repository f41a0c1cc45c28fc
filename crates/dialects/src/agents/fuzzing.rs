//! Templates, for [`crate::fuzzing`].

use super::template::Template;
use super::value::AgentValue;

/// Parses a template and renders it.
pub(crate) fn template(text: &str, input: &AgentValue) {
    if let Ok(template) = Template::parse(text) {
        let _ = template.render(input);
    }
}
