//! The answers to each request of the protocol.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use brief_system::Remembered;
use rmcp::ErrorData;
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CustomRequest, CustomResult,
    DiscoverResult, ExtensionCapabilities, GetPromptRequestParams, GetPromptResponse,
    GetPromptResult, Implementation, InitializeRequestParams, InitializeResult, JsonObject,
    ListPromptsResult, ListResourcesResult, ListToolsResult, ProtocolVersion,
    ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, ResourceContents,
    ServerCapabilities, ServerConfig, SubscribeRequestParams, SubscriptionFilter, Tool,
    UnsubscribeRequestParams,
};
use rmcp::service::{NotificationContext, RoleServer, SubscriptionContext};
use serde_json::{Value as Json, json};
use tokio::task::AbortHandle;

use super::super::gateway::GatewayLists;
use super::super::{
    Answered, Context, ListParams, about_to_end, call_result, invalid_params_error, prompt_result,
};
use super::SharedProject;
use super::answers::ToolAnswer;
use super::changes::{ListNews, MOST_SUBSCRIPTIONS, Subscriptions, tell_listener, tell_peer};
use super::offers::{Offers, RESOURCE_BYTES};
use super::skills::{list_directory, mime_type};
use super::tools::ProjectTool;
use super::wish::JsonWish;

/// The time that a client waits for the instructions of a large project; without them it can ask all the same.
const PATIENCE: Duration = Duration::from_secs(2);

/// The identifier of the Skills extension.
const SKILLS: &str = "io.modelcontextprotocol/skills";

/// Answers the requests of one connection.
pub(super) struct ProjectHandler {
    shared: Arc<SharedProject>,
    subscriptions: Subscriptions,
    /// The task that tells the client of changes.
    telling: Mutex<Option<AbortHandle>>,
}

impl Drop for ProjectHandler {
    fn drop(&mut self) {
        let telling = self.telling.get_mut().unwrap_or_else(PoisonError::into_inner);
        telling.iter().for_each(AbortHandle::abort);
    }
}

impl ProjectHandler {
    pub(super) fn new(shared: Arc<SharedProject>) -> ProjectHandler {
        let (subscriptions, telling) = (Subscriptions::default(), Mutex::default());
        ProjectHandler { shared, subscriptions, telling }
    }

    /// Returns the lists. The first request may come before they are made, and waits.
    async fn wait_for_offers(&self) -> Answered<Arc<Offers>> {
        let mut offers = self.shared.offers.subscribe();
        let made = offers.wait_for(Option::is_some).await;
        made.ok().and_then(|made| made.clone()).ok_or_else(about_to_end)
    }

    /// Returns the tools and prompts of the servers behind this one.
    fn gateway_lists(&self) -> GatewayLists {
        let gateway = self.shared.gateway.as_ref();
        gateway.map(|gateway| gateway.lists().borrow().clone()).unwrap_or_default()
    }

    /// Does work that reads files on a thread of its own.
    async fn run_blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&SharedProject) -> T + Send + 'static,
    ) -> Answered<T> {
        let shared = Arc::clone(&self.shared);
        let done = tokio::task::spawn_blocking(move || work(&shared)).await;
        done.map_err(|error| ErrorData::internal_error(error.to_string(), None))
    }
}

/// Returns the result of a call that another server has answered. One that the SDK does not know is passed on
/// as text.
fn passed_call(result: Result<Json, String>) -> CallToolResult {
    match result {
        Ok(result) => serde_json::from_value(result.clone())
            .unwrap_or_else(|_| call_result(Ok(result.to_string()))),
        Err(message) => call_result(Err(message)),
    }
}

/// Adds the fields that the newest revision requires of a result that the SDK does not know.
fn extension_result(mut result: Json, context: &Context) -> CustomResult {
    let is_newest = context
        .protocol_version()
        .is_some_and(|version| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str());
    if let (Json::Object(fields), true) = (&mut result, is_newest) {
        fields.insert("resultType".to_owned(), json!("complete"));
        fields.insert("ttlMs".to_owned(), json!(0));
        fields.insert("cacheScope".to_owned(), json!("private"));
    }
    CustomResult::new(result)
}

impl ServerHandler for ProjectHandler {
    fn get_info(&self) -> ServerConfig {
        let mut implementation = Implementation::new("brief", env!("CARGO_PKG_VERSION"));
        implementation.title = Some("Briefing".to_owned());
        let mut extensions = ExtensionCapabilities::new();
        let mut skills = JsonObject::new();
        skills.insert("directoryRead".to_owned(), json!(true));
        extensions.insert(SKILLS.to_owned(), skills);
        let mut capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_prompts()
            .enable_prompts_list_changed()
            .enable_resources()
            .enable_resources_list_changed()
            .enable_resources_subscribe()
            .enable_extensions_with(extensions)
            .build();
        // The tools of other servers come and go, ours do not.
        if let (Some(_), Some(tools)) = (&self.shared.gateway, &mut capabilities.tools) {
            tools.list_changed = Some(true);
        }
        let config = ServerConfig::new(capabilities).with_server_info(implementation);
        let offers = self.shared.offers.borrow();
        match offers.as_ref().map(|offers| offers.instructions.as_str()) {
            None | Some("") => config,
            Some(instructions) => config.with_instructions(instructions),
        }
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: Context,
    ) -> Answered<InitializeResult> {
        let _ = tokio::time::timeout(PATIENCE, self.wait_for_offers()).await;
        context.peer.set_peer_info(request.clone());
        self.negotiate_initialize(&request)
    }

    async fn discover(&self, _: Context) -> Answered<DiscoverResult> {
        let _ = tokio::time::timeout(PATIENCE, self.wait_for_offers()).await;
        let versions = self.supported_protocol_versions().into_owned();
        Ok(DiscoverResult::from_server_info(versions, self.get_info()))
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        let (news, subscriptions) =
            (ListNews::subscribe(&self.shared), Arc::clone(&self.subscriptions));
        let telling = tokio::spawn(tell_peer(context.peer, news, subscriptions));
        let mut known = self.telling.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(earlier) = known.replace(telling.abort_handle()) {
            earlier.abort();
        }
    }

    async fn list_tools(&self, _: ListParams, _: Context) -> Answered<ListToolsResult> {
        let mut tools = self.shared.tools.to_vec();
        tools.extend(self.gateway_lists().tools);
        Ok(ListToolsResult::with_all_items(tools))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        let own = self.shared.tools.iter().find(|tool| tool.name == name).cloned();
        own.or_else(|| self.gateway_lists().tools.into_iter().find(|tool| tool.name == name))
    }

    /// Calls a tool. Wrong arguments have an answer for the model; only an unknown tool is an error of the
    /// protocol.
    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: Context,
    ) -> Answered<CallToolResponse> {
        if let Some(gateway) =
            self.shared.gateway.as_ref().filter(|found| found.contains_name(&request.name))
        {
            let arguments = Json::Object(request.arguments.unwrap_or_default());
            return Ok(passed_call(
                gateway.pass_request("tools/call", &request.name, arguments).await,
            )
            .into());
        }
        let Some(tool) = ProjectTool::from_name(&request.name) else {
            return Err(invalid_params_error(format!("unknown tool `{}`", request.name)));
        };
        let offers =
            if tool == ProjectTool::Search { Some(self.wait_for_offers().await?) } else { None };
        let mut arguments = request.arguments.unwrap_or_default();
        let wanted = JsonWish::take_arguments(&mut arguments).map_err(invalid_params_error)?;
        let answer = self
            .run_blocking(move |shared| shared.answer_call(tool, arguments, offers.as_deref()))
            .await?;
        let (outcome, json) = match answer.map(Arc::unwrap_or_clone) {
            Ok(ToolAnswer { text, json }) => (Ok(text), wanted.filter_json(json)),
            Err(message) => (Err(message), None),
        };
        let mut result = call_result(outcome);
        result.structured_content = json;
        Ok(result.into())
    }

    async fn list_prompts(&self, _: ListParams, _: Context) -> Answered<ListPromptsResult> {
        let offers = self.wait_for_offers().await?;
        let mut prompts: Vec<_> =
            offers.prompts.iter().map(|prompt| prompt.listed.clone()).collect();
        prompts.extend(self.gateway_lists().prompts);
        Ok(ListPromptsResult::with_all_items(prompts))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: Context,
    ) -> Answered<GetPromptResponse> {
        let (name, arguments) = (request.name, request.arguments.unwrap_or_default());
        if let Some(gateway) =
            self.shared.gateway.as_ref().filter(|found| found.contains_name(&name))
        {
            let result = gateway.pass_request("prompts/get", &name, Json::Object(arguments)).await;
            let result: GetPromptResult =
                serde_json::from_value(result.map_err(invalid_params_error)?).map_err(|error| {
                    invalid_params_error(format!("cannot parse the server's answer: {error}"))
                })?;
            return Ok(result.into());
        }
        let offers = self.wait_for_offers().await?;
        let assembled = self.run_blocking(move |shared| {
            let prompt = offers.prompts.iter().find(|prompt| prompt.listed.name == name);
            let prompt = prompt.ok_or_else(|| format!("unknown prompt `{name}`"))?;
            let system = Remembered::new(Arc::clone(&shared.system));
            let text = prompt.render_text(&system, &shared.options.directory, &arguments)?;
            Ok((text, prompt.listed.description.clone()))
        });
        let (text, description) = assembled.await?.map_err(invalid_params_error)?;
        Ok(prompt_result(text, description).into())
    }

    async fn list_resources(&self, _: ListParams, _: Context) -> Answered<ListResourcesResult> {
        let offers = self.wait_for_offers().await?;
        let resources = offers.listed.iter().map(|file| file.resource.clone()).collect();
        Ok(ListResourcesResult::with_all_items(resources))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: Context,
    ) -> Answered<ReadResourceResponse> {
        let offers = self.wait_for_offers().await?;
        let uri = request.uri;
        let missing = || {
            let message = format!("resource not found: `{uri}`");
            ErrorData::resource_not_found(message, Some(json!({"uri": &uri})))
        };
        let file = offers.readable.get(&uri).cloned().ok_or_else(missing)?;
        let path = file.below.clone();
        let read =
            self.run_blocking(move |shared| file.read(shared.system.as_ref(), RESOURCE_BYTES));
        let bytes = read.await?.map_err(|error| {
            ErrorData::internal_error(format!("cannot read `{uri}`: {error}"), None)
        })?;
        // What is not text would not come back as the same bytes.
        let (content, is_text) = match String::from_utf8(bytes) {
            Ok(text) => (ResourceContents::text(text, &uri), true),
            Err(error) => (ResourceContents::blob(STANDARD.encode(error.as_bytes()), &uri), false),
        };
        let content = content.with_mime_type(mime_type(&path, is_text));
        Ok(ReadResourceResult::new(vec![content]).into())
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: Context,
    ) -> Answered<CustomResult> {
        let uri = request.params.as_ref().and_then(|params| params["uri"].as_str());
        let needed = || invalid_params_error("missing parameter `uri`".to_owned());
        let unknown =
            |uri: &str, what: &str| invalid_params_error(format!("{what} not found: `{uri}`"));
        let result = match request.method.as_str() {
            "skills/list" => {
                json!({"skills": self.wait_for_offers().await?.skills})
            }
            "skills/get" => {
                let (uri, offers) = (uri.ok_or_else(needed)?, self.wait_for_offers().await?);
                let skill = offers.skills.iter().find(|skill| skill.uri == uri);
                json!({"skill": skill.ok_or_else(|| unknown(uri, "skill"))?})
            }
            "resources/directory/read" => {
                let (uri, offers) = (uri.ok_or_else(needed)?, self.wait_for_offers().await?);
                let children = list_directory(&offers.skills, uri);
                json!({"resources": children.ok_or_else(|| unknown(uri, "directory"))?})
            }
            method => {
                let code = rmcp::model::ErrorCode::METHOD_NOT_FOUND;
                return Err(ErrorData::new(code, method.to_owned(), None));
            }
        };
        Ok(extension_result(result, &context))
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        let mut accepted = requested.clone();
        if let Some(uris) = &mut accepted.resource_subscriptions {
            uris.truncate(MOST_SUBSCRIPTIONS);
        }
        Some(accepted)
    }

    async fn listen(&self, context: SubscriptionContext) -> Answered<()> {
        tell_listener(context, ListNews::subscribe(&self.shared)).await;
        Ok(())
    }

    async fn subscribe(&self, request: SubscribeRequestParams, _: Context) -> Answered<()> {
        let mut subscribed = self.subscriptions.lock().unwrap_or_else(PoisonError::into_inner);
        if subscribed.len() == MOST_SUBSCRIPTIONS {
            return Err(invalid_params_error(format!(
                "too many subscriptions: the limit is {MOST_SUBSCRIPTIONS}"
            )));
        }
        subscribed.insert(request.uri);
        Ok(())
    }

    async fn unsubscribe(&self, request: UnsubscribeRequestParams, _: Context) -> Answered<()> {
        let mut subscribed = self.subscriptions.lock().unwrap_or_else(PoisonError::into_inner);
        subscribed.remove(&request.uri);
        Ok(())
    }
}
