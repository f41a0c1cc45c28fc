//! `brief lint` in the formats that other programs read.

use serde_json::json;

use crate::{project, shop};

/// SARIF 2.1.0: rule, level, place relative to the root, and the repair.
#[test]
fn sarif_has_rule_place_and_repair() {
    let yaml = "context:\n  - content: A\n    on: Edit\n";
    let project = project().with_file("a b/AGENTS.yaml", yaml);
    let output = project.run(&["lint", "--format", "sarif"]);
    assert_eq!(output.code, Some(1));
    let mut log = output.json();
    // The pages of rules have tests of their own.
    let help = log.pointer_mut("/runs/0/tool/driver/rules/0/help").unwrap().take();
    assert!(help["markdown"].as_str().unwrap().starts_with("# agents-yaml/invalid-on\n"));
    let log = serde_json::to_string_pretty(&log).unwrap();
    insta::assert_snapshot!(log.replace(env!("CARGO_PKG_VERSION"), "VERSION"), @r#"
    {
      "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
      "version": "2.1.0",
      "runs": [
        {
          "tool": {
            "driver": {
              "name": "brief",
              "version": "VERSION",
              "rules": [
                {
                  "id": "agents-yaml/invalid-on",
                  "shortDescription": {
                    "text": "brief skips an entry with an unknown action in `on`."
                  },
                  "help": null
                }
              ]
            }
          },
          "columnKind": "unicodeCodePoints",
          "results": [
            {
              "ruleId": "agents-yaml/invalid-on",
              "level": "error",
              "message": {
                "text": "context[0]: invalid action \"Edit\" (must be read, edit, create, or all)\ndid you mean `edit`?"
              },
              "locations": [
                {
                  "physicalLocation": {
                    "artifactLocation": {
                      "uri": "a%20b/AGENTS.yaml"
                    },
                    "region": {
                      "startLine": 3,
                      "startColumn": 9,
                      "endLine": 3,
                      "endColumn": 13
                    }
                  }
                }
              ],
              "fixes": [
                {
                  "description": {
                    "text": "write `edit`"
                  },
                  "artifactChanges": [
                    {
                      "artifactLocation": {
                        "uri": "a%20b/AGENTS.yaml"
                      },
                      "replacements": [
                        {
                          "deletedRegion": {
                            "startLine": 3,
                            "startColumn": 9,
                            "endLine": 3,
                            "endColumn": 13
                          },
                          "insertedContent": {
                            "text": "edit"
                          }
                        }
                      ]
                    }
                  ]
                }
              ]
            }
          ]
        }
      ]
    }
    "#);
    let clean = shop().run(&["lint", "--format", "sarif", "src/cart.py"]).json();
    assert_eq!(clean["runs"][0]["results"], json!([]));
}

/// N20: "no `gitlab` or `junit` format". The keys are those that GitLab's documentation of Code Quality reports requires.
#[test]
fn gitlab_and_junit_read_findings() {
    let sound = project().with_file("AGENTS.yaml", "context:\n  - content: A\n");
    let yaml = "context:\n  - content: A\n    on: Edit\n";
    let project = project().with_file("a b/AGENTS.yaml", yaml);
    let message = "context[0]: invalid action \"Edit\" (must be read, edit, create, or all)\ndid you mean `edit`?";
    for command in ["lint", "audit"] {
        let clean = sound.run(&[command, "--format", "gitlab"]);
        assert_eq!((clean.code, clean.json()), (Some(0), json!([])), "{command}");
        let clean = sound.run(&[command, "--format", "junit"]);
        assert!(clean.stdout.contains("<testcase name=\"no problems\""), "{clean}");
    }
    let report = project.run(&["lint", "--format", "gitlab"]);
    assert_eq!(report.code, Some(1));
    let mut report = report.json();
    let fingerprint = report[0]["fingerprint"].take();
    assert_eq!(fingerprint.as_str().map(str::len), Some(64));
    assert_eq!(
        report,
        json!([{
            "description": message,
            "check_name": "agents-yaml/invalid-on",
            "fingerprint": null,
            "severity": "major",
            "location": {"path": "a b/AGENTS.yaml", "lines": {"begin": 3}},
        }])
    );
    let report = project.run(&["lint", "--format", "junit"]);
    assert_eq!(report.code, Some(1));
    let case = "<testcase name=\"agents-yaml/invalid-on\" classname=\"a b/AGENTS.yaml\" line=\"3\" column=\"9\">";
    assert!(report.stdout.contains(case) && report.stdout.contains("failures=\"1\""), "{report}");
}
