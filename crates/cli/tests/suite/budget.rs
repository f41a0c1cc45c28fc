//! The cost of an answer and the asker: `--budget`, `--exact`, `--client`, `--task`.

use std::fs;

use serde_json::json;

use crate::{project, shop};

/// Whole items go, the most general first, and it is said.
#[test]
fn a_budget_cuts_the_most_general_first() {
    insta::assert_snapshot!(shop().run(&["context", "src/cart.py", "--budget", "12"]), @"
    AGENTS.yaml:9
      Run the tests.

    src/AGENTS.yml:2
      The cart is never empty here.
    ------- stderr -------
    dropped 2 items to stay within 12 tokens; see `brief why src/cart.py --budget 12`
    [EOF]
    ");
    insta::assert_snapshot!(shop().run(&["context", "src/cart.py", "--budget", "0"]), @"
    ------- stderr -------
    dropped 4 items to stay within 0 tokens; see `brief why src/cart.py --budget 0`
    [EOF]
    ");
    insta::assert_snapshot!(shop().run(&["context", "--all", "--budget", "0"]), @"
    ------- stderr -------
    dropped 5 items to stay within 0 tokens; see `left_out` with `--json`
    [EOF]
    ");
    let roomy = shop().run(&["context", "src/cart.py", "--budget", "1000"]);
    assert_eq!(roomy, shop().run(&["context", "src/cart.py"]));
}

/// A cut item is left out with the reason, for people and programs.
#[test]
fn why_shows_what_was_cut() {
    insta::assert_snapshot!(shop().run(&["why", "src/cart.py", "--budget", "12", "--on", "read"]), @"
    src/cart.py, on read

    - skipped  AGENTS.yaml:3
               its 3 tokens do not fit in the budget of 12
               > Speak plainly.

    - skipped  AGENTS.yaml:4
               applies only on edit, create
               > Prices are integers in cents.

    + applies  AGENTS.yaml:9
               match `src/**` covers src/cart.py
               claude, codex, copilot, cursor: missing (no hook)
               > Run the tests.

    + applies  AGENTS.yaml:14
               decision, match `src/**` covers src/cart.py
               claude, codex, copilot, cursor: manual
               > Money is integers

    + applies  AGENTS.yaml:24
               decision, match `**` covers src/cart.py
               claude, codex, copilot, cursor: manual
               > One repository

    + applies  src/AGENTS.yml:2
               match `cart.py` covers src/cart.py
               claude, codex, copilot, cursor: missing (no hook)
               > The cart is never empty here.

    - skipped  src/AGENTS.yml:6
               match `templates/` does not cover src/cart.py
               > Templates are not code.
    [EOF]
    ");
    let cut = shop().run(&["context", "src/cart.py", "--budget", "12", "--json"]).json();
    let reasons: Vec<_> =
        cut["skipped"].as_array().unwrap().iter().map(|out| &out["reason"]).collect();
    assert_eq!(reasons[0], "its 3 tokens do not fit in the budget of 12");
    assert!(cut["tokens"].as_u64().unwrap() <= 12);
}

/// The same text is delivered once, and says where else it stands.
#[test]
fn a_repetition_is_shown_once_with_its_other_places() {
    let text = "context:\n  - content: Use tabs.\n";
    let project = project().with_file("AGENTS.yaml", text).with_file("src/AGENTS.yaml", text);
    insta::assert_snapshot!(project.run(&["context", "src/a.c"]), @"
    src/AGENTS.yaml:2, also AGENTS.yaml:2
      Use tabs.
    [EOF]
    ");
    insta::assert_snapshot!(project.run(&["why", "src/a.c"]), @"
    src/a.c

    = same     AGENTS.yaml:2
               has the same text as src/AGENTS.yaml:2
               claude, codex, copilot, cursor: same as src/AGENTS.yaml
               > Use tabs.

    + applies  src/AGENTS.yaml:2
               match `**` covers src/a.c
               claude, codex, copilot, cursor: missing (no hook)
               > Use tabs.
    [EOF]
    ");
    let answer = project.run(&["context", "src/a.c", "--json"]).json();
    let also = json!([{"format": "agents-yaml", "path": "$PROJECT/AGENTS.yaml", "line": 2}]);
    assert_eq!(answer["items"][0]["also"], also);
}

/// Exact numbers where they are asked for, remembered outside the project.
#[test]
fn exact_numbers_are_those_of_the_vocabulary() {
    let text = "context:\n  - content: tiktoken is great!\n  - content: hello world\n";
    let project = project().with_file("AGENTS.yaml", text);
    let ask = || project.run(&["context", "a", "--exact", "--json"]);
    let cold = ask();
    let answer = cold.json();
    assert_eq!(
        (&answer["items"][0]["tokens"], &answer["items"][1]["tokens"]),
        (&json!(6), &json!(2))
    );
    assert_eq!(answer["tokens"], 8);
    let record = project.home().join(".cache/brief/tokens/o200k_base");
    let written = fs::read_to_string(&record).unwrap();
    assert_eq!(written.lines().count(), 2);
    assert_eq!(ask(), cold);
    assert_eq!(fs::read_to_string(&record).unwrap(), written);
    fs::write(&record, "damaged").unwrap();
    assert_eq!(ask(), cold);
    let cut = ["context", "a", "--exact", "--budget", "7"];
    assert_eq!(project.run(&[&cut[..], &["--json"]].concat()).json()["tokens"], 2);
    let said = project.run(&cut).stderr;
    assert!(said.contains("see `brief why a --budget 7 --exact`"), "{said}");
}

/// An offer costs its name and description, not its text.
#[test]
fn tokens_are_what_is_delivered() {
    let long = "word ".repeat(50);
    let offer = format!("---\ntrigger: agent\ndescription: One two\n---\n{long}\n");
    let project = project().with_file(".context/three.md", offer).with_dir(".git");
    let answer = project.run(&["context", "a", "--json"]).json();
    assert_eq!(answer["items"][0]["tokens"], 51);
    assert_eq!(answer["tokens"], 3);
}

/// The client and the task are part of the question.
#[test]
fn a_client_and_a_task_are_part_of_the_moment() {
    let args = ["context", "src/cart.py", "--client", "claude", "--task", "fix", "--json"];
    let moment = &shop().run(&args).json()["query"];
    assert_eq!((&moment["client"], &moment["task"]), (&json!("claude"), &json!("fix")));
    let why = shop().run(&["why", "src/cart.py", "--client", "claude", "--task", "fix"]);
    assert!(why.stdout.starts_with("src/cart.py, for claude, task fix\n"), "{why}");
    insta::assert_snapshot!(shop().run(&["why", "a", "--client", "cluade"]), @"
    ------- stderr -------
    error: unknown client `cluade`
    hint: did you mean `claude`? known clients: aider, amp, antigravity, augment, claude, cline, codex, continue, copilot, copilot-cli, copilot-vscode, crush, cursor, droid, gemini, goose, junie, kilo, kiro, opencode, openhands, pi, qwen, roo, trae, warp, windsurf, zed
    [exit status: 2]
    [EOF]
    ");
    assert_eq!(shop().run(&["context", "a", "--budget", "-1"]).code, Some(2));
}
