//! The startup gate: one tool that must succeed before an agent does anything.
//!
//! A hard gate stops the agent in case of doubt, and no option skips it.

use serde_json::{Value, json};

use crate::tools::{CallError, ToolBox};

/// A startup tool that cannot be run or has failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GateError {
    /// The agent has no such tool (A40).
    #[error("unknown startup tool `{0}`")]
    Missing(String),
    /// The tool requires arguments, but a startup tool is called without any (Y33).
    #[error("the startup tool `{tool}` requires `{argument}`, but is called without arguments")]
    NeedsArguments {
        /// The name of the tool.
        tool: String,
        argument: String,
    },
    /// The tool threw, was rejected, or exceeded a limit.
    #[error("the startup tool `{tool}` failed: {error}")]
    Failed {
        /// The name of the tool.
        tool: String,
        /// The error of the call.
        error: CallError,
    },
    /// The tool asked for an ability that was not granted, whatever it did with the refusal.
    #[error("the startup tool `{tool}` asked for `{ability}`, which is not granted")]
    Denied {
        /// The name of the tool.
        tool: String,
        /// The name of the ability.
        ability: String,
    },
    /// The tool returned `false` or `{ ok: false }`.
    #[error("the startup tool `{tool}` refused: {result}")]
    SaidNo {
        /// The name of the tool.
        tool: String,
        /// The returned value as JSON.
        result: String,
    },
}

/// Checks that the startup tool exists and can be called without arguments (A40, Y33).
pub fn check_startup(tools: &ToolBox, name: &str) -> Result<(), GateError> {
    let tool = tools.find_tool(name).ok_or_else(|| GateError::Missing(name.to_owned()))?;
    let required = tool.scheme.parameters.get("required").and_then(Value::as_array);
    match required.and_then(|names| names.first()?.as_str()) {
        None => Ok(()),
        Some(argument) => Err(GateError::NeedsArguments {
            tool: tool.scheme.name.clone(),
            argument: argument.to_owned(),
        }),
    }
}

/// Runs the startup tool with `({}, ctx)` and returns its result.
///
/// It fails when it throws, is rejected, exceeds a limit, asks for an ability that was not granted, or
/// returns `false` or `{ ok: false }` (Y32). Any other result is success.
pub fn run_startup(tools: &mut ToolBox, name: &str, ctx: &Value) -> Result<Value, GateError> {
    check_startup(tools, name)?;
    let tool =
        tools.find_tool(name).map_or_else(|| name.to_owned(), |tool| tool.scheme.name.clone());
    let outcome = tools.call_tool(name, &json!({}), ctx);
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
