//! The receipts of a hook: what it delivered, and what a client reports to have loaded.

use std::path::Path;

use brief_clients::hook::{CallTrace, HookCall, HookMoment, HookSession};
use brief_engine::receipts::{
    Receipt, ReceiptCheck, ReceiptItem, ReceiptKind, ReceiptStep, ReceiptTrace, TouchedFile,
    content_hash, read_head_commit,
};
use brief_engine::{BriefedDecision, BriefedItem, Moment, Root, System, structured};

/// The item that an entry of a message says, and the moment that it is for.
#[derive(Clone, Copy)]
pub(super) struct EntryOrigin<'m> {
    pub(super) moment: &'m Moment,
    pub(super) item: OriginItem<'m>,
}

#[derive(Clone, Copy)]
pub(super) enum OriginItem<'m> {
    Context(&'m BriefedItem),
    Offer(&'m BriefedItem),
    Decision(&'m BriefedDecision),
}

impl EntryOrigin<'_> {
    /// Returns the file that the item stands in.
    pub(super) fn path(&self) -> &Path {
        match self.item {
            OriginItem::Context(item) | OriginItem::Offer(item) => &item.path,
            OriginItem::Decision(bound) => &bound.path,
        }
    }

    /// Returns whether its text has paragraphs of its own; all others are items of a list.
    pub(super) fn is_document(&self) -> bool {
        matches!(self.item, OriginItem::Context(item) if item.dialect != structured::NAME)
    }

    /// Returns whether it is for after an action alone.
    pub(super) fn is_for_after(&self) -> bool {
        matches!(self.item, OriginItem::Context(item) if item.is_for_after)
    }

    /// Returns whether a call may wait for it.
    pub(super) fn is_marked(&self) -> bool {
        matches!(self.item, OriginItem::Context(item) if item.holds)
    }

    /// Returns the item of a receipt.
    pub(super) fn receipt_item(&self, place: String, tokens: usize, root: &Path) -> ReceiptItem {
        let (how, text) = match self.item {
            OriginItem::Context(item) => (ReceiptKind::Delivered, &item.content),
            OriginItem::Offer(item) => (ReceiptKind::Listed, &item.description),
            OriginItem::Decision(bound) => (ReceiptKind::Decision, &bound.decision.decision),
        };
        let (dialect, name, line, reason) = match self.item {
            OriginItem::Context(item) | OriginItem::Offer(item) => {
                (item.dialect, item.name.clone(), item.line, &item.reason)
            }
            OriginItem::Decision(BriefedDecision { decision, reason, .. }) => {
                (structured::NAME, first_words(&decision.decision), decision.line, reason)
            }
        };
        ReceiptItem {
            how,
            file: self.moment.slashed_path().to_owned(),
            action: self.moment.action.map(|action| action.as_str().to_owned()),
            dialect: dialect.to_owned(),
            name,
            place,
            line,
            hash: content_hash(text.trim()),
            tokens,
            reason: reason.seen_from(root),
            late: None,
        }
    }
}

fn first_words(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    line.chars().take(80).collect()
}

/// What a receipt is about.
#[derive(Default)]
pub(super) struct Record {
    /// True if the tool call was held back.
    pub(super) held: bool,
    pub(super) items: Vec<ReceiptItem>,
    pub(super) changes: Vec<TouchedFile>,
    pub(super) checks: Vec<ReceiptCheck>,
}

pub(super) fn record_receipt(
    system: &dyn System,
    call: &HookCall<'_>,
    session: &HookSession,
    (root, directory): (&Path, &Path),
    record: Record,
) {
    let Record { held, items, changes, checks } = record;
    let mut receipt = Receipt::new(&session.id, &call.client.id, &call.event, root);
    receipt.agent.clone_from(&session.agent);
    receipt.directory = directory.display().to_string();
    receipt.trace = create_receipt_trace(system, call, root, held, &items);
    (receipt.held, receipt.items, receipt.changes) = (held, items, changes);
    receipt.checks = checks;
    receipt.record(system);
}

/// Returns what finds a receipt in the client's own records.
fn create_receipt_trace(
    system: &dyn System,
    call: &HookCall<'_>,
    root: &Path,
    held: bool,
    items: &[ReceiptItem],
) -> ReceiptTrace {
    let CallTrace { call: id, transcript, root_session, mode, agent_type } = &call.trace;
    let is_told = items.iter().any(|item| item.how != ReceiptKind::Loaded);
    let step = match &call.moment {
        HookMoment::Tool { .. } => ReceiptStep::AfterCall,
        HookMoment::Prompt { .. } => ReceiptStep::AfterPrompt,
        _ => ReceiptStep::First,
    };
    ReceiptTrace {
        call: id.clone(),
        transcript: transcript.clone(),
        root_session: root_session.clone(),
        head: read_head_commit(system, root),
        step: (is_told || held).then_some(step),
        mode: mode.map(str::to_owned),
        agent_type: agent_type.clone(),
    }
}

/// Records a file that the client reports to have loaded.
pub(super) fn record_loaded(
    system: &dyn System,
    call: &HookCall<'_>,
    session: &HookSession,
    file: &Path,
    reason: &str,
) {
    let Some(cwd) = &call.cwd else { return };
    let Ok(root) = Root::open(system, cwd) else { return };
    let root = root.into_repository(system);
    let place = file.strip_prefix(root.path()).unwrap_or(file);
    let item = ReceiptItem {
        how: ReceiptKind::Loaded,
        place: place.display().to_string(),
        line: 1,
        reason: reason.to_owned(),
        ..ReceiptItem::default()
    };
    let record = Record { items: vec![item], ..Record::default() };
    record_receipt(system, call, session, (root.path(), cwd), record);
}
