//! The formatter's output, judged by markdownlint: no finding of the rules about layout.
#![expect(clippy::disallowed_methods, reason = "the linter reads real files")]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use brief_syntax::markdown::format_markdown;
use brief_testkit::{needs, run_markdownlint};

/// The rules that are about white space and the choice between spellings of the same thing. The
/// others are about what a text says, and that is its author's.
const LAYOUT: [&str; 24] = [
    "MD003", "MD004", "MD005", "MD007", "MD009", "MD010", "MD012", "MD019", "MD021", "MD022",
    "MD023", "MD027", "MD030", "MD031", "MD032", "MD035", "MD039", "MD047", "MD048", "MD049",
    "MD050", "MD055", "MD058", "MD060",
];

/// One document for each construct and for the places where two of them meet.
const DOCUMENTS: [&str; 66] = [
    // Headings.
    "#  Spaces   after the mark\n##   Second   ##\ntext\n###  Third\n",
    "Underlined\n==========\nSecond\n------\ntext\n",
    "Title\nover two lines\n===\n\ntext\n",
    "  # Indented\n   ## Also\ntext right below\n",
    "# Title\n\n\n\n## Far away\n\n\n\ntext\n\n\n",
    "# With `code` and *marks* #\n# \n",
    "text\n# Heading in the middle\ntext\n",
    // Paragraphs.
    "no line end",
    "\n\n\nblank lines first\n",
    "trailing   \nblanks \nhere\t\n",
    "a hard break  \nand one with a backslash\\\nend\n",
    "tabs\tin\tprose\tand   many    spaces\n",
    "carriage\r\nreturns\r\n\r\nhere\r\n",
    "\u{feff}a byte order mark\n",
    // Emphasis.
    "_one_ and *two* and __three__ and **four**\n",
    "in*tra*word and **bo**ld and snake_case_name and 2*3*4\n",
    "***both*** and *one __in__ the other* and **one _in_ the other**\n",
    "~~gone~~ and `code` and ``two `ticks` ``\n",
    // Bullets.
    "* a\n* b\n* c\n\ntext\n\n- d\n\ntext\n\n+ e\n",
    " - a\n- b\n  - c\n   - d\n",
    "+ a\n+ b\n    + c\n        + d\n",
    "-   wide\n-   items\n\n    with a paragraph\n",
    "text\n- a list\n- right below\nlazy text\n\nend\n",
    "* a\n\n* loose\n\n\n* list\n",
    "- a\n    - four\n        - eight\n- b\n\t- tab\n",
    "- a\n- b\n# Heading right after\n",
    "- [ ] open\n- [x]  done\n    - [ ]   nested\n",
    "* one\n  # Heading in an item\n  text\n* two\n",
    // Numbers.
    "1. a\n1. b\n1. c\n",
    "1)  a\n2)  b\n",
    "0. zero\n1. one\n",
    "3. three\n4. four\n",
    "1. a\n   - b\n   - c\n2. d\n      1. e\n",
    "9. nine\n10. ten\n    - nested below ten\n11. eleven\n",
    // Code.
    "text\n```sh\nfence without air\n```\ntext\n",
    "~~~text\ntildes\n~~~\n\n```text\nticks\n```\n",
    "1. step\n   ```sh\n   in a tight list\n   ```\n2. next\n   ```sh\n   another\n   ```\n",
    "- a\n  ```text\n  one\n\n\n  two\n  ```\n  after\n- b\n",
    "- ```text\n  first in an item\n  ```\n- b\n- ```text\n  again\n  ```\n",
    "- a\n  - b\n    ```text\n    deep\n    ```\n  - c\n- d\n",
    "````md\n```sh\nnested\n```\n````\n# Heading\n",
    "   ```text\n   indented fence\n     kept\n   ```\ntext\n",
    "```text\nnever closed\n",
    // Quotes.
    ">no space\n>   three spaces\n",
    "> # Heading\n> text\n> - list\n> text\n",
    "text\n> quote right below\nlazy\n\nend\n",
    "> - a\n>   ```text\n>   code\n>   ```\n>   after\n> - b\n",
    "> > nested\n> > quote\n>\n> back\n",
    "- item\n  > quote in it\n  > ```text\n  > code\n  > ```\n- next\n",
    "> [!NOTE]\n> An alert.\n",
    ">    <!-- indented comment -->\n> text\n",
    // Tables.
    "|a|b|\n|-|-|\n|1|2|\n",
    "text\n| a | b\n|--|:-:\n| `x\\|y` | long cell\n\nend\n",
    "| a | b |\n| - | - |\n1 | 2\n3 | 4 |\n",
    "a | b\n--- | ---:\n1 | 2\n3 | 4\n",
    "| name | mark |\n|---|---|\n| 漢字 | ✅ |\n| é | ⚠️ |\n| 👩\u{200d}🚀 | 🇨🇭 |\n",
    "- in a list\n  | a | b |\n  |---|---|\n  | 1 | 2 |\n- next\n",
    "> |a|\n> |-|\n> |b|\n",
    // HTML and comments.
    "<!-- @client:claude -->\n# Title\ntext\n<!-- @endclient -->\n- a\n- b\n",
    "- a\n<!-- @client:!copilot -->\n- b\n<!-- @endclient -->\n- c\n",
    "  <!-- indented -->   \n\ntext\n",
    "<details>\n<summary>More</summary>\n\n* a\n* b\n\n</details>\n\n\n\ntext\n",
    // Links, notes, rules.
    "[ spaces ](https://example.com) and ![ image ](a.png)\n",
    "see [one][a] and[^n]\n[a]: https://example.com  'title'\n\n[^n]: a note\n    ```text\n    with code\n    ```\n",
    "***\ntext\n\n___\n\n* * *\n\n- - -\n",
    "---\n* begins like front matter\n---\ntext\n",
];

fn lint(directory: &Path, texts: impl Iterator<Item = String>) -> Vec<String> {
    for (index, text) in texts.enumerate() {
        fs::write(directory.join(format!("{index}.md")), text).expect("files can be written");
    }
    let mut findings = run_markdownlint(directory);
    findings.retain(|finding| LAYOUT.iter().any(|rule| finding.contains(rule)));
    findings
}

#[test]
fn formatted_text_has_no_finding_about_layout() {
    needs!(Markdownlint);
    let directory = tempfile::tempdir().unwrap();
    let formatted = DOCUMENTS.iter().map(|text| {
        let formatted = format_markdown(text);
        assert_eq!(formatted.refused, None, "{text:?}");
        formatted.text
    });
    let findings = lint(directory.path(), formatted);
    let none: [String; 0] = [];
    assert_eq!(findings, none);
}

/// Each rule is broken somewhere before, so that the other test is about all of them.
#[test]
fn the_documents_break_every_rule_before() {
    needs!(Markdownlint);
    let directory = tempfile::tempdir().unwrap();
    let findings = lint(directory.path(), DOCUMENTS.iter().map(ToString::to_string));
    let broken: BTreeSet<&str> = LAYOUT
        .into_iter()
        .filter(|rule| findings.iter().any(|finding| finding.contains(rule)))
        .collect();
    assert_eq!(broken, BTreeSet::from(LAYOUT));
}
