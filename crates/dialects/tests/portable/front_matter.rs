//! `conformance/front-matter/`: headers as people write them, read as skills of the open standard.

use std::fs;

use brief_syntax::yaml::{Node, ProblemKind, Value, Yaml};
use serde_json::Value as Json;

use super::support::{files, read, workspace};

fn cases() -> Vec<Json> {
    let path = workspace().join("conformance/front-matter/cases.json");
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

fn is_strict(header: &str) -> bool {
    let yaml = Yaml::parse(header);
    let broken = |kind| matches!(kind, ProblemKind::Syntax | ProblemKind::UnknownAlias);
    !yaml.problems().iter().any(|problem| broken(problem.kind))
}

fn shown(node: Node<'_>) -> Json {
    match node.value() {
        Value::Sequence(list) => list.iter().map(shown).collect(),
        Value::Mapping(mapping) => {
            mapping.fields().map(|field| (field.name().to_owned(), shown(field.value))).collect()
        }
        _ => node.as_str().map_or(Json::Null, Json::from),
    }
}

/// Every header loads, and says what its author meant.
#[test]
fn headers_are_read_as_they_were_meant() {
    for case in cases() {
        let (id, header) = (&case["id"], case["header"].as_str().unwrap());
        let text = format!("---\n{header}\n---\n\n# Any\n");
        let registry = read(&files(&[("skills/x/SKILL.md", &text)]));
        let [skill] = registry.items.as_slice() else { panic!("{id}") };
        assert!(skill.is_foreign(), "{id}");
        for (name, meant) in case["fields"].as_object().unwrap() {
            let found = skill.document().field(name).map(shown);
            assert_eq!(found.as_ref(), Some(meant), "{id}: {name}");
        }
        let repaired =
            skill.diagnostics().iter().any(|found| found.code() == "frontmatter-repaired");
        assert_eq!(repaired, case["strict"] == false, "{id}");
        if case["strict"] == true {
            assert!(is_strict(header), "{id}");
        }
        assert_eq!(skill.document().body(), "\n# Any\n", "{id}");
    }
}

/// The cases are mostly about headers that a strict reader refuses.
#[test]
fn most_cases_are_no_valid_yaml() {
    let cases = cases();
    let refused = cases.iter().filter(|case| !is_strict(case["header"].as_str().unwrap())).count();
    assert!(refused >= 25, "{refused} of {}", cases.len());
}
