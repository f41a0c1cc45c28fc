//! Verdicts about sessions whose truth is known, without any file of a client.

use std::path::{Path, PathBuf};

use brief_clients::transcript::{
    CallKind, ChangeAction, ChangedText, Changes, DeniedBy, EventBody, Outcome, RecordedChange,
    RecordedEvent, RecordedSession, ToolCall,
};
use brief_engine::Project;
use brief_engine::receipts::{Receipt, ReceiptItem, ReceiptStep};
use brief_system::MemorySystem;

use super::guidance::Guidance;
use super::report::{ReplayVerdict, SessionReport};
use super::session::report_session;

/// A session that is written call by call, one call in each answer.
#[derive(Default)]
struct Script {
    session: RecordedSession,
}

impl Script {
    fn new() -> Script {
        let mut script = Script::default();
        script.session.id = "s".to_owned();
        script.session.directory = Some(PathBuf::from("/p"));
        script.add(EventBody::Prompt)
    }

    fn add(mut self, body: EventBody) -> Script {
        let number = u32::try_from(self.session.events.len()).unwrap();
        let is_call = matches!(body, EventBody::Call(_));
        let step = self.session.events.last().map_or(0, |event| event.step) + u32::from(is_call);
        let at = Some(1_000 * u64::from(number));
        self.session.events.push(RecordedEvent { at, step, record: number + 1, body });
        self
    }

    fn call(self, kind: CallKind, commands: &[&str], outcome: Outcome, changes: Changes) -> Script {
        let id = format!("c{}", self.session.events.len());
        self.add(EventBody::Call(ToolCall {
            id,
            tool: "T".to_owned(),
            kind,
            directory: None,
            commands: commands.iter().map(|line| (*line).to_owned()).collect(),
            reads: Vec::new(),
            skill: None,
            outcome,
            changes,
        }))
    }

    fn run(self, line: &str) -> Script {
        self.call(CallKind::Shell, &[line], Outcome::Ok, Changes::NONE)
    }

    /// A command that may have changed anything.
    fn run_hidden(self, line: &str) -> Script {
        self.call(CallKind::Shell, &[line], Outcome::Ok, Changes::AtLeast(Vec::new()))
    }

    fn change(self, path: &str, action: ChangeAction, text: ChangedText) -> Script {
        let change = RecordedChange { path: path.into(), action, text };
        self.call(CallKind::Edit, &[], Outcome::Ok, Changes::Exact(vec![change]))
    }

    fn create(self, path: &str, text: &str) -> Script {
        self.change(path, ChangeAction::Create, whole("", text))
    }

    fn prompt(self) -> Script {
        self.add(EventBody::Prompt)
    }
}

fn whole(before: &str, after: &str) -> ChangedText {
    ChangedText::Whole { before: Some(before.to_owned()), after: after.to_owned() }
}

fn report(yaml: &str, script: &Script, receipts: &[Receipt]) -> SessionReport {
    let system =
        MemorySystem::new("/p").with_file("/p/AGENTS.yaml", yaml).with_file("/p/.git/HEAD", "x");
    let project = Project::open(&system, "/p").unwrap();
    let mut guidance = Guidance::read(&project);
    let receipts: Vec<&Receipt> = receipts.iter().collect();
    report_session(("claude", "/t"), &script.session, &mut guidance, &receipts, &|_| false)
}

/// Returns the verdict about the only rule, which the agent was told at the start.
#[expect(clippy::needless_pass_by_value, reason = "a script is written in place")]
fn verdict(check: &str, script: Script) -> ReplayVerdict {
    let yaml = format!("context:\n  - content: Rule.\n    {check}\n");
    let report = report(&yaml, &script, &[receipt(None)]);
    assert_eq!(report.rules.len(), 1, "{report:#?}");
    report.rules[0].verdict.unwrap()
}

/// A receipt of the only rule: with a call, or at the start.
fn receipt(call: Option<&str>) -> Receipt {
    let mut receipt = Receipt::new("s", "claude", "Event", Path::new("/p"));
    receipt.trace.call = call.map(str::to_owned);
    receipt.trace.step =
        Some(if call.is_some() { ReceiptStep::AfterCall } else { ReceiptStep::First });
    receipt.items.push(ReceiptItem {
        place: "AGENTS.yaml".to_owned(),
        name: "context[0]".to_owned(),
        ..ReceiptItem::default()
    });
    receipt
}

const NPM: &str = "check: {forbid: {command: npm}}";
const ANTD: &str = "check: {forbid: {text: \"from 'antd'\"}}";

#[test]
fn one_proof_breaks_a_rule_and_all_are_needed_to_keep_it() {
    use ReplayVerdict::{Broken, Kept, NoOccasion, Unknown};
    for (check, script, expected) in [
        (NPM, Script::new().run("pnpm i").run("cd x && npm i"), Broken),
        (NPM, Script::new().run("pnpm i"), Kept),
        (NPM, Script::new().run("pnpm i").run("$TOOL i"), Unknown),
        (NPM, Script::new().create("a.ts", "npm"), NoOccasion),
        // What commands change is of no interest to a rule about commands.
        (NPM, Script::new().run_hidden("make"), Kept),
        (ANTD, Script::new().create("a.ts", "x\nimport a from 'antd'\n"), Broken),
        (ANTD, Script::new().create("a.ts", "x\n"), Kept),
        (ANTD, Script::new().create("a.ts", "x\n").run_hidden("make"), Unknown),
        (ANTD, Script::new().run_hidden("make"), Unknown),
        (ANTD, Script::new().run("ls"), NoOccasion),
        // Only added lines count.
        (
            ANTD,
            Script::new().change(
                "a.ts",
                ChangeAction::Edit,
                whole("import a from 'antd'\n", "import a from 'antd'\nx\n"),
            ),
            Kept,
        ),
        (ANTD, Script::new().change("a.ts", ChangeAction::Edit, ChangedText::Unknown), Unknown),
        (
            ANTD,
            Script::new().change("a.ts", ChangeAction::Edit, parts("a", "import a from 'antd'")),
            Broken,
        ),
        (ANTD, Script::new().change("a.ts", ChangeAction::Edit, parts("a", "b")), Unknown),
        // Outside of the project.
        (ANTD, Script::new().create("/q/a.ts", "import a from 'antd'\n"), NoOccasion),
        (ANTD, Script::new().create("../q/a.ts", "import a from 'antd'\n"), NoOccasion),
    ] {
        let events = format!("{:?}", script.session.events);
        assert_eq!(verdict(check, script), expected, "{check}: {events}");
    }
}

fn parts(old: &str, new: &str) -> ChangedText {
    ChangedText::Parts(vec![(old.to_owned(), new.to_owned())])
}

/// A call that did not run, or that failed, has changed nothing.
#[test]
fn what_did_not_happen_breaks_nothing() {
    for outcome in
        [Outcome::Denied(DeniedBy::Hook), Outcome::Denied(DeniedBy::User), Outcome::Unfinished]
    {
        let script = Script::new().call(CallKind::Shell, &["npm i"], outcome, Changes::NONE);
        assert_ne!(verdict(NPM, script), ReplayVerdict::Broken, "{outcome:?}");
    }
    // A command that failed has run.
    let failed = Outcome::Failed { exit: Some(1) };
    let script = Script::new().call(CallKind::Shell, &["npm i"], failed, Changes::NONE);
    assert_eq!(verdict(NPM, script), ReplayVerdict::Broken);
}

#[test]
fn a_violation_that_is_taken_back_is_fixed() {
    let bad = "import a from 'antd'\n";
    let fixed =
        Script::new().create("a.ts", bad).change("a.ts", ChangeAction::Edit, whole(bad, "x\n"));
    assert_eq!(verdict(ANTD, fixed), ReplayVerdict::Fixed);
    let deleted = Script::new().create("a.ts", bad).change(
        "a.ts",
        ChangeAction::Delete,
        ChangedText::Added(Vec::new()),
    );
    assert_eq!(verdict(ANTD, deleted), ReplayVerdict::Fixed);
    // Nobody knows what is there now.
    let unknown =
        Script::new().create("a.ts", bad).change("a.ts", ChangeAction::Edit, ChangedText::Unknown);
    assert_eq!(verdict(ANTD, unknown), ReplayVerdict::Broken);
    let other =
        Script::new().create("a.ts", bad).change("b.ts", ChangeAction::Edit, whole(bad, "x\n"));
    assert_eq!(verdict(ANTD, other), ReplayVerdict::Broken);
}

/// A write may be a creation: a rule about creations needs to know.
#[test]
fn an_ambiguous_write_is_unknown() {
    let check = "check: {forbid: {create: 'utils/**'}}";
    let write = |action| Script::new().change("utils/a.py", action, ChangedText::Unknown);
    assert_eq!(verdict(check, write(ChangeAction::Write)), ReplayVerdict::Unknown);
    assert_eq!(verdict(check, write(ChangeAction::Create)), ReplayVerdict::Broken);
    assert_eq!(verdict(check, write(ChangeAction::Edit)), ReplayVerdict::NoOccasion);
    let both = "check: {forbid: {change: 'utils/**'}}";
    assert_eq!(verdict(both, write(ChangeAction::Edit)), ReplayVerdict::Broken);
}

/// What a turn has to have is judged at its end, and a later turn can mend it.
#[test]
fn turns_are_judged_at_their_end() {
    let check = "check: {require: {change: '.changeset/*', when: 'src/**'}}";
    let edit = || Script::new().create("src/a.ts", "x\n");
    assert_eq!(verdict(check, edit()), ReplayVerdict::Broken);
    assert_eq!(verdict(check, edit().create(".changeset/a", "x\n")), ReplayVerdict::Kept);
    assert_eq!(verdict(check, edit().prompt().run("ls")), ReplayVerdict::Broken);
    let mended = edit().prompt().create("src/b.ts", "y\n").create(".changeset/a", "x\n");
    assert_eq!(verdict(check, mended), ReplayVerdict::Fixed);
    // A command may have written it.
    assert_eq!(verdict(check, edit().run_hidden("npx changeset")), ReplayVerdict::Unknown);
    let run = "check: {require: {run: flint, after: edit, before: commit}}";
    let commit = "git add -A && git commit -m x";
    assert_eq!(verdict(run, edit().run("flint").run(commit)), ReplayVerdict::Kept);
    assert_eq!(verdict(run, edit().run(commit)), ReplayVerdict::Broken);
    assert_eq!(
        verdict(run, edit().run("flint").create("src/b.ts", "").run(commit)),
        ReplayVerdict::Broken
    );
    assert_eq!(verdict(run, edit().run("ls")), ReplayVerdict::NoOccasion);
}

/// Who was not told has kept nothing, and "told" begins with the answer that could see it.
#[test]
fn delivered_counts_from_the_answer_that_could_see_it() {
    let yaml = format!("context:\n  - content: Rule.\n    {ANTD}\n");
    let script = || Script::new().create("a.ts", "x\n").create("b.ts", "x\n");
    let of = |script: &Script, receipts: &[Receipt]| {
        let report = report(&yaml, script, receipts);
        let rule = &report.rules[0];
        let arrival = rule.arrival;
        (
            rule.verdict.unwrap(),
            rule.occasions.told,
            [arrival.delivered, arrival.late, arrival.missing],
        )
    };
    assert_eq!(of(&script(), &[]), (ReplayVerdict::NotDelivered, 0, [0, 0, 2]));
    assert_eq!(of(&script(), &[receipt(Some("c1"))]), (ReplayVerdict::Kept, 1, [1, 1, 0]));
    assert_eq!(of(&script(), &[receipt(None)]), (ReplayVerdict::Kept, 2, [2, 0, 0]));
    // A broken rule is broken, whoever was told.
    let broken = Script::new().create("a.ts", "import a from 'antd'\n");
    assert_eq!(of(&broken, &[]).0, ReplayVerdict::Broken);
    // A summary need not have it.
    let summed =
        Script::new().create("a.ts", "x\n").add(EventBody::Compaction).create("b.ts", "x\n");
    assert_eq!(of(&summed, &[receipt(None)]), (ReplayVerdict::Kept, 1, [1, 0, 1]));
    // In one answer, the second call was made before the text of the first was there.
    let mut parallel = script();
    parallel.session.events[2].step = 1;
    assert_eq!(of(&parallel, &[receipt(Some("c1"))]).1, 0);
}

/// A record with a hole keeps nothing.
#[test]
fn a_damaged_record_keeps_no_rule_about_files() {
    let mut script = Script::new().create("a.ts", "x\n");
    script.session.gaps.broken_count = 1;
    assert_eq!(verdict(ANTD, script), ReplayVerdict::Unknown);
}
