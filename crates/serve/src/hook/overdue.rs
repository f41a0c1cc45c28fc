//! A hook whose time is up before its checks have said anything: the call passes, with a receipt and one notice, or is
//! refused where the user wants that.
//!
//! The thread that answers may hang in the file system, so another one says the last words, from what the first has left.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use brief_clients::hook::{self, AnswerEffect, ClientAnswer, HookCall, HookSession, Words};
use brief_engine::System;
use brief_engine::receipts::{CheckOutcome, Receipt, ReceiptCheck};
use brief_profiles::{Client, HookProfile};
use brief_system::LastWords;

use super::memory::{Claim, DeliveredEntries, Memory, fingerprint_parts};

/// What the agent and the user read where a late check refuses the call.
const NOT_CHECKED: &str = "brief could not check the rules of this project in time";

/// The event that checks are looking at, for the end of the hook's time.
#[derive(Debug, Clone, Default)]
pub struct CheckWatch(Arc<Mutex<Option<WatchedCall>>>);

/// An event with rules that nobody has judged yet.
#[derive(Debug, Clone)]
struct WatchedCall {
    client: Client,
    hook: HookProfile,
    event: String,
    session: Option<HookSession>,
    root: PathBuf,
}

impl CheckWatch {
    /// Notes that an event has rules that want to be checked. Until [`CheckWatch::is_checked`] it is not known what they say.
    pub(super) fn begin(&self, call: &HookCall<'_>, root: PathBuf) {
        let watched = WatchedCall {
            client: call.client.clone(),
            hook: call.hook.clone(),
            event: call.event.clone(),
            session: call.session.clone(),
            root,
        };
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(watched);
    }

    /// Notes that the rules were judged.
    pub(super) fn is_checked(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Returns the last words of a hook whose time is up.
    pub fn say_last_words(&self, system: &dyn System, fails_closed: bool) -> LastWords {
        let watched = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(watched) = watched else {
            return if fails_closed { refuse_by_status(2) } else { LastWords::default() };
        };
        let outcome = if fails_closed { CheckOutcome::Refused } else { CheckOutcome::NotChecked };
        watched.record(system, outcome);
        let is_before = watched.hook.events.before.contains_text(&watched.event);
        let effect =
            if fails_closed && is_before { AnswerEffect::Refuse } else { AnswerEffect::Inform };
        let context = (effect == AnswerEffect::Refuse).then_some(NOT_CHECKED);
        let notice = watched.claim_notice(system).then(|| {
            format!("{NOT_CHECKED}, so this call was not checked; run `brief log` for details")
        });
        let words = Words { context, effect, notice: notice.as_deref() };
        match hook::render_answer(&watched.hook, &watched.event, words) {
            Some(ClientAnswer::Line(line)) => {
                LastWords { stdout: format!("{line}\n"), ..LastWords::default() }
            }
            Some(ClientAnswer::Status { status, reason }) => {
                LastWords { stderr: format!("{reason}\n"), code: status, ..LastWords::default() }
            }
            None => LastWords::default(),
        }
    }
}

fn refuse_by_status(code: u8) -> LastWords {
    LastWords { stderr: format!("{NOT_CHECKED}\n"), code, ..LastWords::default() }
}

impl WatchedCall {
    fn record(&self, system: &dyn System, outcome: CheckOutcome) {
        let session = self.session.as_ref().map_or("", |session| session.id.as_str());
        let mut receipt = Receipt::new(session, &self.client.id, &self.event, &self.root);
        receipt.checks.push(ReceiptCheck {
            rule: String::new(),
            outcome,
            finding: "the hook ran out of time".to_owned(),
        });
        receipt.record(system);
    }

    /// Returns whether the user is to be told: once in a session.
    fn claim_notice(&self, system: &dyn System) -> bool {
        let Some(session) = &self.session else { return false };
        let whole = HookSession { id: session.id.clone(), agent: None };
        let memory = Memory::for_conversation(system, &self.client, &whole);
        let mut known: DeliveredEntries = memory.read_delivered();
        let fingerprint = fingerprint_parts(&["not checked in time"]);
        if known.contains(&fingerprint) {
            return false;
        }
        let claims = [Claim { fingerprint, tokens: 0 }];
        !memory.claim_entries(&claims, &[], &mut known).is_empty()
    }
}

#[cfg(test)]
mod tests {
    use brief_engine::receipts::Receipts;
    use brief_profiles::BUILTIN;
    use brief_system::MemorySystem;
    use serde_json::{Value, json};

    use super::*;

    fn watch(client: &str, session: &str) -> CheckWatch {
        let events = &BUILTIN.find_client(client).unwrap().hook.as_ref().unwrap().events;
        let payload =
            json!({"session_id": session, "hook_event_name": &*events.before[0], "tool_name": "x"});
        let payload = payload.to_string();
        let call = hook::read_call(payload.as_bytes(), &BUILTIN, client, None).unwrap().unwrap();
        let watch = CheckWatch::default();
        watch.begin(&call, PathBuf::from("/p"));
        watch
    }

    #[test]
    fn a_late_check_leaves_a_receipt_and_one_notice() {
        let system = MemorySystem::new("/p").with_env("XDG_STATE_HOME", "/state");
        let words = watch("claude", "s").say_last_words(&system, false);
        let answer: Value = serde_json::from_str(&words.stdout).unwrap();
        assert!(answer["systemMessage"].as_str().unwrap().contains("was not checked"), "{answer}");
        assert_eq!(answer.as_object().unwrap().len(), 1, "the call passes: {answer}");
        assert_eq!((words.code, words.stderr.as_str()), (0, ""));
        assert_eq!(watch("claude", "s").say_last_words(&system, false), LastWords::default());
        let receipts = Receipts::read(&system, 1).receipts;
        let outcomes: Vec<CheckOutcome> =
            receipts.iter().flat_map(|one| &one.checks).map(|check| check.outcome).collect();
        assert_eq!(outcomes, [CheckOutcome::NotChecked, CheckOutcome::NotChecked]);
    }

    #[test]
    fn a_late_check_refuses_where_the_user_wants_that() {
        let system = MemorySystem::new("/p").with_env("XDG_STATE_HOME", "/state");
        let words = watch("claude", "s").say_last_words(&system, true);
        assert!(words.stdout.contains(r#""permissionDecision":"deny""#), "{words:?}");
        let words = watch("droid", "s").say_last_words(&system, true);
        assert!(words.code != 0 && words.stdout.is_empty(), "{words:?}");
        // Nothing is known of the call: the status says it, with the reason.
        let words = CheckWatch::default().say_last_words(&system, true);
        assert_eq!(words.code, 2, "{words:?}");
    }

    #[test]
    fn a_hook_without_rules_says_nothing() {
        let system = MemorySystem::new("/p").with_env("XDG_STATE_HOME", "/state");
        let watch = watch("claude", "s");
        watch.is_checked();
        assert_eq!(watch.say_last_words(&system, false), LastWords::default());
        assert_eq!(CheckWatch::default().say_last_words(&system, false), LastWords::default());
        assert!(Receipts::read(&system, 1).receipts.is_empty());
    }
}
