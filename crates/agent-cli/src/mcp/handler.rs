//! The answers to each request of the protocol.

use std::sync::Arc;
use std::sync::mpsc::Sender;

use brief_agent::conversation::Ready;
use brief_serve::mcp::session::{
    Answered, Context, ListParams, about_to_end, call_result, invalid_params_error,
};
use brief_system::Interruption;
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, GetPromptRequestParams, GetPromptResponse,
    Implementation, JsonObject, ListPromptsResult, ListToolsResult, ServerCapabilities,
    ServerConfig, Tool,
};
use serde_json::Value as Json;
use tokio::sync::oneshot;

use super::prompts::Prompts;

/// A call in the queue.
pub(super) struct Job {
    name: String,
    arguments: String,
    answer: oneshot::Sender<Option<Result<String, String>>>,
    /// Raised when the client cancels the call or disconnects.
    stop: Interruption,
}

/// Raises a flag when its request is answered, cancelled, or dropped.
struct Stopping(Interruption);

impl Drop for Stopping {
    fn drop(&mut self) {
        self.0.raise();
    }
}

impl Job {
    /// Makes the call, unless the client has cancelled it.
    pub(super) fn run(
        self,
        ready: &mut Ready<'_>,
        interruption: &Interruption,
        log: &mut dyn FnMut(&str),
    ) {
        let Job { name, arguments, answer, stop } = self;
        if stop.is_raised() || answer.is_closed() {
            log(&format!("did not call `{name}`: the client canceled the request"));
            return;
        }
        ready.interrupt_by(&stop.or(interruption));
        let result = ready.call_tool(&name, &arguments);
        log(&match &result {
            Some(Ok(_)) => format!("called `{name}`"),
            Some(Err(error)) => format!("`{name}` failed: {error}"),
            None => format!("unknown tool `{name}`"),
        });
        // The client may have disconnected meanwhile.
        let _ = answer.send(result);
    }
}

/// Answers requests for an agent. Everything but tool calls is computed when serving begins.
pub(super) struct Handler {
    config: ServerConfig,
    tools: Vec<Tool>,
    prompts: Prompts,
    jobs: Sender<Job>,
    /// Raised when the client has disconnected.
    left: Interruption,
}

impl Handler {
    pub(super) fn new(ready: &Ready<'_>, jobs: Sender<Job>, left: Interruption) -> Handler {
        let agent = ready.agent();
        let tool = |scheme: &brief_engine::agents::Scheme| {
            let schema = match &scheme.parameters {
                Json::Object(fields) => fields.clone(),
                _ => JsonObject::new(),
            };
            Tool::new(scheme.name.clone(), scheme.description.clone(), Arc::new(schema))
        };
        let mut implementation = Implementation::new(&agent.name.name, &agent.version);
        implementation.title = Some(agent.title.clone());
        implementation.description =
            Some(agent.description.clone()).filter(|text| !text.is_empty());
        let capabilities = ServerCapabilities::builder().enable_tools().enable_prompts().build();
        let config = ServerConfig::new(capabilities)
            .with_server_info(implementation)
            .with_instructions(ready.system_message());
        let tools = ready.listed().iter().map(tool).collect();
        Handler { config, tools, prompts: Prompts::new(&agent.commands), jobs, left }
    }
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        self.config.clone()
    }

    async fn list_tools(&self, _: ListParams, _: Context) -> Answered<ListToolsResult> {
        Ok(ListToolsResult::with_all_items(self.tools.clone()))
    }

    /// Calls a tool. A failed tool has an answer for the model; only an unknown tool is an error of the
    /// protocol.
    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: Context,
    ) -> Answered<CallToolResponse> {
        let name = request.name.into_owned();
        let arguments = Json::Object(request.arguments.unwrap_or_default()).to_string();
        let (answer, answered) = oneshot::channel();
        let stopping = Stopping(Interruption::default());
        let stop = stopping.0.or(&self.left);
        let job = Job { name: name.clone(), arguments, answer, stop };
        self.jobs.send(job).map_err(|_| about_to_end())?;
        let result = tokio::select! {
            result = answered => result.map_err(|_| about_to_end())?,
            // The job sees the cancellation, and the tool is ended.
            () = context.ct.cancelled() => return Err(about_to_end()),
        };
        let result =
            result.ok_or_else(|| invalid_params_error(format!("unknown tool `{name}`")))?;
        Ok(call_result(result).into())
    }

    async fn list_prompts(&self, _: ListParams, _: Context) -> Answered<ListPromptsResult> {
        Ok(ListPromptsResult::with_all_items(self.prompts.list()))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: Context,
    ) -> Answered<GetPromptResponse> {
        let arguments = request.arguments.unwrap_or_default();
        Ok(self.prompts.get(&request.name, &arguments).map_err(invalid_params_error)?.into())
    }
}
