//! Describes errors of the engine.
//!
//! Reading an exception runs foreign code (a `message` may be a getter), so it happens within the limits of
//! the call that threw it.

use rquickjs::{Ctx, Exception, FromJs, Value};

use super::frame::{CallFault, FailureKind, Unusable, UnusableKind};

/// The name of the code in the engine's own messages.
pub(super) const CODE_NAME: &str = "tools.js";

/// The limit for the bytes of a message.
const MOST: usize = 4 * 1024;

/// Takes the exception from the engine and describes it.
pub(super) fn catch_fault(ctx: &Ctx<'_>, error: &rquickjs::Error) -> CallFault {
    match error {
        rquickjs::Error::Exception => fault_from_thrown(ctx, &ctx.catch()),
        rquickjs::Error::Allocation => create_fault(FailureKind::Memory, "", ""),
        other => create_fault(FailureKind::Threw, "", &other.to_string()),
    }
}

pub(super) fn fault_from_thrown<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> CallFault {
    if let Some((exception, name, message)) = find_exception(ctx, value) {
        if name == "InternalError" && message == "out of memory" {
            return create_fault(FailureKind::Memory, &name, &message);
        }
        let place = find_location(&exception);
        return CallFault { place, ..create_fault(FailureKind::Threw, &name, &message) };
    }
    let message = if value.is_null() {
        // The engine also throws it when an error object does not fit into memory.
        "null (possibly out of memory)".to_owned()
    } else {
        render_value(ctx, value)
    };
    create_fault(FailureKind::Threw, "", &message)
}

/// Returns a value as text: a string as it is, anything else as JSON if possible.
pub(super) fn render_value<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> String {
    if let Some(text) = value.as_string() {
        return text.to_string().map(|text| cut_text(&text)).unwrap_or_default();
    }
    if let Some((_, name, message)) = find_exception(ctx, value) {
        return join_error(&name, &message);
    }
    match ctx.json_stringify(value.clone()) {
        Ok(Some(text)) => text.to_string().map(|text| cut_text(&text)).unwrap_or_default(),
        Ok(None) => value.type_name().to_owned(),
        Err(_) => {
            // It may be cyclic, or its `toJSON` throws; the type is enough.
            ctx.catch();
            value.type_name().to_owned()
        }
    }
}

/// Returns an error object with its name and message.
fn find_exception<'js>(
    ctx: &Ctx<'js>,
    value: &Value<'js>,
) -> Option<(Exception<'js>, String, String)> {
    let exception = value.as_object().cloned().and_then(Exception::from_object)?;
    let name = text_of(ctx, exception.get("name"));
    let message = text_of(ctx, exception.get("message"));
    Some((exception, name, message))
}

/// Joins the name of an error and its message.
pub(super) fn join_error(name: &str, message: &str) -> String {
    match (name, message) {
        ("", "") => "an error without a message".to_owned(),
        ("", text) | (text, "") => text.to_owned(),
        (name, message) => format!("{name}: {message}"),
    }
}

/// Returns the place in the code where the exception was thrown, as far as its stack shows. One line precedes
/// the code.
fn find_location(exception: &Exception<'_>) -> Option<(u32, u32)> {
    let stack = exception.stack()?;
    let after = stack.split_once(&format!("{CODE_NAME}:"))?.1;
    let mut numbers = after.split(|character: char| !character.is_ascii_digit());
    let line: u32 = numbers.next()?.parse().ok()?;
    Some((line.saturating_sub(1).max(1), numbers.next()?.parse().unwrap_or(1)))
}

pub(super) fn create_fault(kind: FailureKind, name: &str, message: &str) -> CallFault {
    CallFault {
        kind,
        name: cut_text(name),
        message: cut_text(message),
        place: None,
        is_last: false,
    }
}

/// Returns a field that should be a string. A getter that throws counts as absent.
fn text_of<'js>(ctx: &Ctx<'js>, field: rquickjs::Result<Value<'js>>) -> String {
    let text = field.and_then(|value| {
        if value.is_string() { String::from_js(ctx, value) } else { Ok(String::new()) }
    });
    if let Ok(text) = text {
        cut_text(&text)
    } else {
        ctx.catch();
        String::new()
    }
}

fn cut_text(text: &str) -> String {
    if text.len() <= MOST {
        return text.to_owned();
    }
    format!("{}…", &text[..text.floor_char_boundary(MOST)])
}

/// Returns the failure of code that gave no tools.
pub(super) fn to_unusable(CallFault { kind, name, message, place, .. }: CallFault) -> Unusable {
    let kind = UnusableKind::Failed(kind);
    let message = match name.as_str() {
        "" => message,
        name => join_error(name, &message),
    };
    Unusable { kind, message, place }
}
