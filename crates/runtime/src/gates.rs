//! The startup gate: one tool that must succeed before an agent does anything.
//!
//! A hard gate errs towards stopping, and nothing skips it.

use serde_json::{Value, json};

use crate::tools::{CallError, ToolBox};

/// Why the startup tool cannot be run, or why it counts as failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GateError {
    /// There is no such tool (A40).
    #[error("there is no startup tool `{name}`")]
    Missing {
        /// The name that was asked for.
        name: String,
    },
    /// The tool requires arguments, which nobody gives it (Y33).
    #[error("the startup tool `{tool}` requires `{argument}`, which nobody gives it")]
    NeedsArguments {
        /// The tool.
        tool: String,
        /// The first of the arguments.
        argument: String,
    },
    /// The tool threw, was rejected, or went over a limit.
    #[error("the startup tool `{tool}` failed: {error}")]
    Failed {
        /// The tool.
        tool: String,
        /// How.
        error: CallError,
    },
    /// The tool asked for an ability that it does not have, whatever it made of the answer.
    #[error("the startup tool `{tool}` asked for `{ability}`, which is not granted")]
    Denied {
        /// The tool.
        tool: String,
        /// The ability.
        ability: String,
    },
    /// The tool returned `false` or `{ ok: false }`.
    #[error("the startup tool `{tool}` said no: {result}")]
    SaidNo {
        /// The tool.
        tool: String,
        /// What it returned.
        result: String,
    },
}

/// Checks that a startup tool is there and can be called without arguments (A40, Y33).
pub fn check_startup(tools: &ToolBox, name: &str) -> Result<(), GateError> {
    let tool = tools.find(name).ok_or_else(|| GateError::Missing { name: name.to_owned() })?;
    let required = tool.scheme.parameters.get("required").and_then(Value::as_array);
    match required.and_then(|names| names.first()?.as_str()) {
        None => Ok(()),
        Some(argument) => Err(GateError::NeedsArguments {
            tool: tool.scheme.name.clone(),
            argument: argument.to_owned(),
        }),
    }
}

/// Runs the startup tool with `({}, ctx)` and returns what it returned.
///
/// It fails when it throws, is rejected, takes too long or too much, asks for an ability that it does
/// not have, or returns `false` or `{ ok: false }` (Y32). Anything else is success.
pub fn run_startup(tools: &mut ToolBox, name: &str, ctx: &Value) -> Result<Value, GateError> {
    check_startup(tools, name)?;
    let tool = tools.find(name).map_or_else(|| name.to_owned(), |tool| tool.scheme.name.clone());
    let outcome = tools.call(name, &json!({}), ctx);
    let result = match outcome {
        Ok(result) => result,
        Err(error) => return Err(GateError::Failed { tool, error }),
    };
    if let Some(ability) = tools.last_call().denied.first() {
        return Err(GateError::Denied { tool, ability: ability.clone() });
    }
    let said_no = result == Value::Bool(false) || result.get("ok") == Some(&Value::Bool(false));
    if said_no {
        return Err(GateError::SaidNo { tool, result: result.to_string() });
    }
    Ok(result)
}
