//! Templates, for [`crate::fuzzing`].

use super::template::Template;
use super::value::Value;

/// Parses a template and renders it.
pub(crate) fn template(text: &str, input: &Value) {
    if let Ok(template) = Template::parse(text) {
        let _ = template.render(input);
    }
}
