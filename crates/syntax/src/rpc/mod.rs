//! JSON-RPC 2.0: messages, errors, and the two ways in which they are framed.
//!
//! The language server, the client of MCP servers and the browser's protocol read their messages here; the last one has
//! the same shape without `jsonrpc`. Front ends differ in what carries the bytes, so nothing here reads or waits.
//!
//! `lsp-server` is not used: it reserves as many bytes as a header claims, and a message of the editor's own framing is
//! all that it would read for us.

mod delimited;
mod headed;

use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

pub use delimited::{DelimitedInput, TooLong};
pub use headed::{HeadedFrame, frame_with_headers, read_headed_frame};

/// A message.
#[derive(Debug, Clone, PartialEq)]
pub enum RpcMessage {
    /// A call that wants an answer.
    Request {
        /// The number or text that the answer repeats.
        id: Json,
        /// The name of the method.
        method: String,
        /// What the method is given; null if nothing.
        params: Json,
    },
    /// A call that wants no answer.
    Notification {
        /// The name of the method.
        method: String,
        /// What the method is given; null if nothing.
        params: Json,
    },
    /// The answer to a request.
    Response {
        /// The number or text of the request; null if the other side could not read it.
        id: Json,
        /// The result, or the error.
        outcome: Result<Json, RpcError>,
    },
}

/// The error of a request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RpcError {
    /// The code; [`RpcErrorCode`] has those of the documents.
    #[serde(default)]
    pub code: i64,
    /// The reason, for people.
    #[serde(default)]
    pub message: String,
    /// More about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Json>,
}

/// The errors of JSON-RPC 2.0, and of the language server protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RpcErrorCode {
    /// It is not JSON.
    Parse = -32700,
    /// It is no request.
    InvalidRequest = -32600,
    /// There is no such method.
    UnknownMethod = -32601,
    /// The parameters do not fit the method.
    InvalidParams = -32602,
    /// A request came before `initialize`.
    NotInitialized = -32002,
    /// The other side has withdrawn the request.
    Cancelled = -32800,
    /// The request is valid, and cannot be done.
    RequestFailed = -32803,
}

/// A value that is no message.
#[derive(Debug, Clone, PartialEq)]
pub struct InvalidRpc {
    /// The number or text of the request, if it has one.
    pub id: Option<Json>,
    /// The reason.
    pub problem: &'static str,
}

impl RpcMessage {
    /// Takes a value apart. Like most implementations, it asks for no `jsonrpc`.
    pub fn from_json(message: Json) -> Result<RpcMessage, InvalidRpc> {
        let Json::Object(mut message) = message else {
            return Err(InvalidRpc {
                id: Some(Json::Null),
                problem: "a message must be an object",
            });
        };
        let id = message.remove("id").filter(|id| !id.is_null());
        if let Some(Json::String(method)) = message.remove("method") {
            let params = message.remove("params").unwrap_or(Json::Null);
            return Ok(match id {
                Some(id) => RpcMessage::Request { id, method, params },
                None => RpcMessage::Notification { method, params },
            });
        }
        let outcome = match (message.remove("error"), message.remove("result")) {
            (None | Some(Json::Null), Some(result)) => Ok(result),
            (Some(error), _) => {
                let unreadable = || RpcError { data: Some(error.clone()), ..RpcError::default() };
                Err(RpcError::deserialize(&error).unwrap_or_else(|_| unreadable()))
            }
            (None, None) => return Err(InvalidRpc { id, problem: "a message must have a method" }),
        };
        Ok(RpcMessage::Response { id: id.unwrap_or_default(), outcome })
    }
}

impl RpcError {
    /// Creates an error of the documents.
    pub fn new(code: RpcErrorCode, message: impl Into<String>) -> RpcError {
        RpcError { code: code as i64, message: message.into(), data: None }
    }
}

impl Default for RpcError {
    fn default() -> RpcError {
        RpcError::new(
            RpcErrorCode::InvalidRequest,
            "the response has an error that is not an object",
        )
    }
}

/// Returns a request.
pub fn build_request(id: &Json, method: &str, params: Option<Json>) -> Json {
    let mut request = json!({"jsonrpc": "2.0", "id": id, "method": method});
    if let Some(params) = params {
        request["params"] = params;
    }
    request
}

/// Returns a notification.
pub fn build_notification(method: &str, params: Option<Json>) -> Json {
    let mut notification = json!({"jsonrpc": "2.0", "method": method});
    if let Some(params) = params {
        notification["params"] = params;
    }
    notification
}

/// Returns the answer to a request.
pub fn build_response(id: &Json, outcome: Result<Json, RpcError>) -> Json {
    match outcome {
        Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
        Err(error) => json!({"jsonrpc": "2.0", "id": id, "error": error}),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of the JSON-RPC 2.0 specification, section 7, and what others make of them.
    #[test]
    fn messages_are_taken_apart() {
        let read = |text: &str| RpcMessage::from_json(serde_json::from_str(text).unwrap());
        let (id, method, params) = (json!(3), "subtract".to_owned(), json!({"minuend": 42}));
        assert_eq!(
            read(r#"{"jsonrpc": "2.0", "method": "subtract", "params": {"minuend": 42}, "id": 3}"#),
            Ok(RpcMessage::Request { id, method, params })
        );
        let (method, params) = ("foobar".to_owned(), Json::Null);
        assert_eq!(
            read(r#"{"jsonrpc": "2.0", "method": "foobar"}"#),
            Ok(RpcMessage::Notification { method, params })
        );
        let response = |id, outcome| Ok(RpcMessage::Response { id, outcome });
        assert_eq!(read(r#"{"result": 19, "id": "a"}"#), response(json!("a"), Ok(json!(19))));
        assert_eq!(read(r#"{"result": null, "id": 1}"#), response(json!(1), Ok(Json::Null)));
        assert_eq!(
            read(r#"{"error": {"code": -32601, "message": "Method not found"}, "id": null}"#),
            response(
                Json::Null,
                Err(RpcError::new(RpcErrorCode::UnknownMethod, "Method not found"))
            )
        );
        assert!(matches!(
            read(r#"{"error": "no", "id": 1}"#),
            Ok(RpcMessage::Response { outcome: Err(_), .. })
        ));
        for (text, id) in [
            ("[]", Some(Json::Null)),
            ("1", Some(Json::Null)),
            (r#"{"method": 1, "params": "bar"}"#, None),
            (r#"{"foo": "boo", "id": 5}"#, Some(json!(5))),
        ] {
            assert_eq!(read(text).unwrap_err().id, id, "{text}");
        }
    }

    #[test]
    fn what_is_written_is_what_is_read() {
        let id = json!("x-1");
        for (written, expected) in [
            (
                build_request(&id, "a", Some(json!({}))),
                RpcMessage::Request { id: id.clone(), method: "a".to_owned(), params: json!({}) },
            ),
            (
                build_notification("b", None),
                RpcMessage::Notification { method: "b".to_owned(), params: Json::Null },
            ),
            (
                build_response(&id, Ok(Json::Null)),
                RpcMessage::Response { id: id.clone(), outcome: Ok(Json::Null) },
            ),
        ] {
            assert_eq!(written["jsonrpc"], "2.0");
            assert_eq!(RpcMessage::from_json(written), Ok(expected));
        }
    }
}
