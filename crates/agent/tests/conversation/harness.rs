//! An agent, tools and a clock for tests.

use std::cell::{Cell, RefCell};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use brief_agent::conversation::{
    Clock, Connections, Conversation, ConversationLimits, ConversationSettings, Endpoint, Http,
    NotReady, Ready, ReadyTools, Transcript, Turn, TurnError, TurnEvent,
};
use brief_dialects::agents::{Ability, Agent, AgentOptions, Base, Effective, Scheme, load_text};
use brief_syntax::Source;
use brief_system::{Files, Interruption, MemorySystem, System};
use serde_json::{Value as Json, json};

use super::server::{Request, Script, Server};

/// A key that may only appear in a header.
pub(crate) const KEY: &str = "sk-secret-0123456789";

const AGENT: &str = "---\ntitle: Helper\nrecommended:\n  models: [small, large]\ncommands:\n  - name: test\n    \
    description: Writes tests\n    argument-hint: \"[target] [framework]\"\n    body: Test $1 with $2.\n---\n\
    # Helper\n\n## System\n\nYou help.\n\n## Rules\n\nBe brief.\n";

/// Parses an agent.
pub(crate) fn agent(text: &str) -> Agent {
    let source = Arc::new(Source::from_bytes("/p/agents/a_b.agent.md", text.into()));
    let loaded = load_text(&MemorySystem::new("/p"), &source, &AgentOptions::default());
    loaded.agent().unwrap_or_else(|| panic!("{:?}", loaded.diagnostics())).clone()
}

/// Tools that add, fail, and return long texts.
pub(crate) struct Fake {
    schemes: Vec<Scheme>,
    pub(crate) calls: Vec<(String, String)>,
}

impl Fake {
    pub(crate) fn new(names: &[&str]) -> Fake {
        let scheme = |name: &&str| Scheme {
            name: (*name).to_owned(),
            description: "d".to_owned(),
            parameters: json!({"type": "object", "properties": {}}),
        };
        Fake { schemes: names.iter().map(scheme).collect(), calls: Vec::new() }
    }
}

impl ReadyTools for Fake {
    fn schemes(&self) -> &[Scheme] {
        &self.schemes
    }

    fn call_tool(&mut self, name: &str, arguments: &str) -> Result<String, String> {
        self.calls.push((name.to_owned(), arguments.to_owned()));
        let json: Json = serde_json::from_str(arguments).map_err(|error| error.to_string())?;
        match name {
            "add" => {
                Ok((json["a"].as_i64().unwrap_or(0) + json["b"].as_i64().unwrap_or(0)).to_string())
            }
            "boom" => Err("no luck".to_owned()),
            "much" => Ok("x".repeat(200_000)),
            "no" => Ok("false".to_owned()),
            "not_ok" => Ok("{\"ok\":false,\"why\":\"db down\"}".to_owned()),
            "leak" => Ok(format!("the key is {KEY}")),
            _ => Ok("null".to_owned()),
        }
    }
}

/// A clock that moves by waits, or by hand.
#[derive(Default)]
pub(crate) struct TestClock {
    now: Cell<Duration>,
    pub(crate) slept: RefCell<Vec<Duration>>,
}

impl Clock for TestClock {
    fn now(&self) -> Duration {
        self.now.get()
    }

    fn sleep(&self, time: Duration) {
        self.slept.borrow_mut().push(time);
        self.now.set(self.now.get() + time);
    }
}

/// The results of a turn.
pub(crate) struct Outcome {
    pub(crate) result: Result<Turn, TurnError>,
    /// The text that the user saw, with events in brackets.
    pub(crate) seen: String,
    pub(crate) requests: Vec<Request>,
    pub(crate) transcript: Vec<Json>,
    pub(crate) calls: Vec<(String, String)>,
    /// The sum of all waits.
    pub(crate) slept: Duration,
}

/// A turn to try.
pub(crate) struct Trial<'t> {
    pub(crate) script: Vec<Script>,
    pub(crate) limits: ConversationLimits,
    pub(crate) tools: &'t [&'t str],
    pub(crate) clock: Option<&'t dyn Clock>,
    pub(crate) interruption: Interruption,
    /// The text whose appearance raises the interruption.
    pub(crate) interrupt_at: Option<&'t str>,
}

impl Trial<'_> {
    pub(crate) fn new(script: Vec<Script>) -> Trial<'static> {
        Trial {
            script,
            limits: ConversationLimits::default(),
            tools: &["add", "boom", "much", "leak"],
            clock: None,
            interruption: Interruption::default(),
            interrupt_at: None,
        }
    }

    /// Sends `hi` once.
    pub(crate) fn run(self) -> Outcome {
        let server = Server::start(self.script.clone());
        let base = server.base.clone();
        let mut outcome = self.run_at(&base);
        outcome.requests = server.requests();
        outcome
    }

    /// Sends `hi` once, to a server at this address.
    pub(crate) fn run_at(self, base: &str) -> Outcome {
        let system = system(base);
        let agent = agent(AGENT);
        let mut tools = Fake::new(self.tools);
        let test_clock = TestClock::default();
        let mut seen = String::new();
        let ready = pass(&system, &agent, &[], &mut tools).unwrap();
        let endpoint = Endpoint::from_environment(&system).unwrap();
        let transcript = Transcript::open(&system, Path::new("t.jsonl"), &endpoint).unwrap();
        let means = Connections {
            transport: Arc::new(Http::new(&endpoint).unwrap()),
            endpoint,
            clock: self.clock.unwrap_or(&test_clock),
            interruption: self.interruption.clone(),
        };
        let settings = ConversationSettings { model: "small".to_owned(), limits: self.limits };
        let mut conversation = Conversation::new(ready, means, settings, Some(transcript)).unwrap();
        let result = conversation.send_message("hi", &mut |event| {
            show(&mut seen, event);
            if self.interrupt_at.is_some_and(|text| seen.contains(text)) {
                self.interruption.raise();
            }
        });
        drop(conversation);
        let slept = test_clock.slept.borrow().iter().sum();
        let transcript = lines(&system);
        Outcome { result, seen, requests: Vec::new(), transcript, calls: tools.calls, slept }
    }
}

/// Records the output for the user.
pub(crate) fn show(seen: &mut String, event: TurnEvent<'_>) {
    match event {
        TurnEvent::Text(text) => seen.push_str(text),
        TurnEvent::Called { name, arguments } => seen.push_str(&format!("[{name} {arguments}]")),
        TurnEvent::Answered { result: Ok(text), .. } => {
            seen.push_str(&format!("[= {}]", text.chars().take(40).collect::<String>()));
        }
        TurnEvent::Answered { result: Err(text), .. } => seen.push_str(&format!("[! {text}]")),
        TurnEvent::Notice(text) => seen.push_str(&format!("[note: {text}]")),
    }
}

/// A system whose environment names a server.
pub(crate) fn system(base: &str) -> MemorySystem {
    MemorySystem::new("/p").with_env("OPENAI_BASE_URL", base).with_env("OPENAI_API_KEY", KEY)
}

/// Passes the gates.
pub(crate) fn pass<'r>(
    system: &dyn System,
    agent: &'r Agent,
    grant: &[Ability],
    tools: &'r mut dyn ReadyTools,
) -> Result<Ready<'r>, NotReady> {
    let effective = Effective::new(grant, &agent.abilities);
    assert!(!effective.has_ability(&Ability::Base(Base::Network)));
    Ready::pass_gates(system, agent, None, &effective, tools)
}

/// Reads the transcript.
pub(crate) fn lines(system: &MemorySystem) -> Vec<Json> {
    let bytes = system.read(Path::new("/p/t.jsonl"), 100_000_000).unwrap();
    assert!(!String::from_utf8_lossy(&bytes).contains(KEY));
    let text = String::from_utf8(bytes).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}
