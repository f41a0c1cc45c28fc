//! Goals S1, S3, S7 and R4: every attack case, with its side effects and its diagnostic.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use brief_testkit::{Attack, Attacks};

/// Cases that run at the same time.
const AT_ONCE: usize = 4;

/// Each case holds, or waits for a finding that is named.
#[test]
fn every_attack_case_holds() {
    let attacks = Attacks::read(&crate::workspace().join("conformance/attacks"));
    assert!(attacks.cases.len() >= 145 + 33, "{} cases", attacks.cases.len());
    let ids: BTreeSet<&str> = attacks.cases.iter().map(Attack::id).collect();
    assert_eq!(ids.len(), attacks.cases.len(), "two cases have one name");
    let chosen = std::env::var("ATTACK").ok();
    let (next, problems) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(attack) = attacks.cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if chosen.as_ref().is_some_and(|chosen| !attack.id().starts_with(chosen)) {
                        continue;
                    }
                    let program = Path::new(env!("CARGO_BIN_EXE_brief"));
                    let Some(found) = attack.run(program) else {
                        // Not by a macro: the harness would keep it back from who has to know.
                        let line =
                            format!("skipped: this machine lacks what {} needs\n", attack.id());
                        std::io::stderr().write_all(line.as_bytes()).unwrap();
                        continue;
                    };
                    let waits = attacks.pending.contains_key(attack.id());
                    if !found.is_empty() && !waits {
                        let problem = format!("{}: {}", attack.id(), found.join("\n    "));
                        problems.lock().unwrap().push(problem);
                    }
                }
            });
        }
    });
    let mut problems = problems.into_inner().unwrap();
    problems.sort();
    assert!(problems.is_empty(), "{} cases:\n{}", problems.len(), problems.join("\n"));
}

/// A class of attacks is one row of `docs/dev/security-goals.md`, and each file of cases has one.
#[test]
fn every_class_of_attacks_has_a_row_and_cases() {
    let page =
        std::fs::read_to_string(crate::workspace().join("docs/dev/security-goals.md")).unwrap();
    let table =
        page.split("\n## ").find(|section| section.starts_with("Attack classes\n")).unwrap();
    let rows: Vec<&str> = table.lines().filter(|line| line.starts_with("| ")).skip(2).collect();
    assert!(rows.len() >= 9, "{rows:#?}");
    let mut files = Attacks::list_classes(&crate::workspace().join("conformance/attacks"));
    for row in rows {
        let held_by = row.trim_end_matches([' ', '|']).rsplit(" | ").next().unwrap();
        assert!(
            held_by.contains(".rs::") || held_by.contains("classes/"),
            "held by nothing: {row}"
        );
        for name in
            held_by.split('`').filter_map(|text| text.strip_prefix("conformance/attacks/classes/"))
        {
            assert!(files.iter().any(|file| file == name), "`{name}` is not there: {row}");
        }
        files.retain(|file| !held_by.contains(&format!("classes/{file}")));
    }
    assert!(files.is_empty(), "no row names {files:?}");
}
