//! The rules that diagnostics report, one page each.
//!
//! A rule is the file `rules/AREA/NAME.md` of this crate: front matter with its severity, summary,
//! source and help, then the reason and examples, which a test runs. The build script makes a
//! constant of each page, the only way to name a rule in code. A constant carries what every
//! diagnostic needs; the page is looked up by the commands that explain rules.

mod renamed;

use std::fmt;
use std::sync::Arc;

use crate::diagnostic::Severity;
use crate::front_matter::FrontMatter;
use crate::source::Source;
use crate::yaml::Value;

pub use renamed::current_code;

/// A problem that can be reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rule {
    code: &'static str,
    severity: Severity,
}

impl Rule {
    /// Returns the stable name, `<area>/<problem>`, that a user can look up.
    pub const fn code(self) -> &'static str {
        self.code
    }

    /// Returns the severity of its diagnostics, unless one of them is given another.
    pub const fn severity(self) -> Severity {
        self.severity
    }
}

include!(concat!(env!("OUT_DIR"), "/rules.rs"));

/// All pages: a NUL byte, the code and a line break before each.
static PAGES: &str = include_str!(concat!(env!("OUT_DIR"), "/pages"));

/// The page of a rule. Its `Display` is the Markdown that `--explain` prints.
#[derive(Debug)]
pub struct RulePage {
    /// The code of the rule.
    pub code: &'static str,
    /// Everything below the front matter.
    pub body: &'static str,
    front: FrontMatter,
}

impl RulePage {
    /// Returns the pages of all rules, by code.
    pub fn all_pages() -> impl Iterator<Item = RulePage> {
        list_pages().map(RulePage::parse)
    }

    /// Finds the page of the rule with this code, which may be an old one.
    pub fn find_by_code(code: &str) -> Option<RulePage> {
        let code = current_code(code);
        list_pages().find(|(known, _)| *known == code).map(RulePage::parse)
    }

    fn parse((code, text): (&'static str, &'static str)) -> RulePage {
        let front = FrontMatter::from_source(&Arc::new(Source::new(code, text)));
        RulePage { code, body: text[front.body_start..].trim_start(), front }
    }

    /// Returns a field of the front matter: `severity`, `summary`, `source`, `fix`, `help` and, where
    /// a rule needs them, `also` (other severities that it has) and `run` (the command that reports it).
    pub fn find_field(&self, name: &str) -> Option<&str> {
        match self.front.get(name)?.value() {
            Value::Scalar(text) => Some(text),
            _ => None,
        }
    }

    fn field_text(&self, name: &str) -> &str {
        self.find_field(name).unwrap_or_default()
    }

    /// Returns the severities that diagnostics of the rule have, the usual one first.
    pub fn severities(&self) -> impl Iterator<Item = &str> {
        [self.field_text("severity"), self.field_text("also")]
            .into_iter()
            .filter(|word| !word.is_empty())
    }

    /// Returns what is wrong, in a sentence or two.
    pub fn summary(&self) -> &str {
        self.field_text("summary")
    }

    /// Returns what to do about it.
    pub fn help(&self) -> &str {
        self.field_text("help")
    }
}

/// Returns the codes of all rules, in order.
pub fn rule_codes() -> impl Iterator<Item = &'static str> {
    list_pages().map(|(code, _)| code)
}

fn list_pages() -> impl Iterator<Item = (&'static str, &'static str)> {
    PAGES.split('\0').filter_map(|page| page.split_once('\n'))
}

impl fmt::Display for RulePage {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let severities: Vec<&str> = self.severities().collect();
        writeln!(formatter, "# {}\n", self.code)?;
        writeln!(
            formatter,
            "**{}.** {}\n",
            capitalize_word(&severities.join(" or ")),
            self.summary()
        )?;
        writeln!(formatter, "{}\n", self.body.trim_end())?;
        writeln!(formatter, "## Fix\n\n{}", self.help())?;
        let fix = match self.field_text("fix") {
            "safe" => "\n`brief lint --fix` applies it when safe.\n",
            "suggested" => "\n`brief lint --fix=suggested` applies a suggested fix.\n",
            _ => "",
        };
        formatter.write_str(fix)?;
        writeln!(formatter, "\n## Source\n\n{}", self.field_text("source"))
    }
}

fn capitalize_word(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect()
}
