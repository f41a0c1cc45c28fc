//! Reads what a sentence demands, by its grammar.
//!
//! Only a sentence that begins with its demand is read, and only one that holds without a condition: "use tabs", "never use
//! npm", "run tests with `pytest`". Whatever hedges, chooses or tells of exceptions demands nothing here.

use brief_syntax::markdown::Passage;

use crate::words::{split_phrases, split_words};

/// The subject of a demand.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Topic {
    /// The package manager of a language.
    PackageManager(&'static str),
    /// The program that runs tests, by kind.
    TestRunner(&'static str),
    /// The letters of names, by what is named.
    Naming(String),
    Indentation,
    Quotes,
    Semicolons,
    LineLength,
    /// A thing to use, or not.
    Tool(String),
    /// Anything else to do, or not.
    Practice(String),
}

impl Topic {
    /// Returns the noun for it.
    pub(crate) fn noun(&self) -> &'static str {
        match self {
            Topic::PackageManager(_) => "package manager",
            Topic::TestRunner(_) => "test command",
            Topic::Naming(_) => "naming",
            Topic::Indentation => "indentation",
            Topic::Quotes => "quotes",
            Topic::Semicolons => "semicolons",
            Topic::LineLength => "line length",
            Topic::Tool(_) => "tool",
            Topic::Practice(_) => "practice",
        }
    }
}

/// A demand of a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Demand {
    pub(crate) topic: Topic,
    /// The value that is demanded or banned; empty for practices.
    pub(crate) value: String,
    pub(crate) is_ban: bool,
    /// True for a command in a block of code, which only a ban contradicts.
    pub(crate) is_command: bool,
}

impl Demand {
    fn new(topic: Topic, value: impl Into<String>, is_ban: bool) -> Demand {
        Demand { topic, value: value.into(), is_ban, is_command: false }
    }

    /// Returns whether no text can follow both.
    pub(crate) fn contradicts(&self, other: &Demand) -> bool {
        if self.topic != other.topic
            || self.is_ban && other.is_ban
            || self.is_command && other.is_command
        {
            return false;
        }
        if self.is_ban || other.is_ban {
            return self.value == other.value
                || self.topic == Topic::Indentation
                    && is_spaces(&self.value)
                    && is_spaces(&other.value)
                    && (self.value == "spaces" || other.value == "spaces");
        }
        if self.is_command || other.is_command {
            return false;
        }
        match self.topic {
            Topic::Tool(_) | Topic::Practice(_) => false,
            // `spaces` is less exact than `2 spaces`.
            Topic::Indentation if is_spaces(&self.value) && is_spaces(&other.value) => {
                self.value != other.value && self.value != "spaces" && other.value != "spaces"
            }
            _ => self.value != other.value,
        }
    }
}

fn is_spaces(value: &str) -> bool {
    value.ends_with("spaces")
}

/// Words of sentences that demand nothing for sure.
const HEDGES: [&str; 40] = split_words(
    "if when whenever unless except where may can could might either depending sometimes legacy \
     optional optionally until otherwise consider usually typically generally mostly only \
     example e.g instance such unnecessarily excessively blindly directly without rather \
     already existing old possible appropriate however",
);

const MANAGERS: [(&str, &str); 10] = [
    ("npm", "js"),
    ("pnpm", "js"),
    ("yarn", "js"),
    ("bun", "js"),
    ("pip", "python"),
    ("poetry", "python"),
    ("uv", "python"),
    ("pipenv", "python"),
    ("conda", "python"),
    ("pdm", "python"),
];

fn find_package_manager(word: &str) -> Option<(&'static str, &'static str)> {
    MANAGERS.iter().copied().find(|(name, _)| *name == word)
}

/// The commands of a package manager that do not work on the project's own packages.
const MACHINE_COMMANDS: [&str; 24] = split_words(
    "create init exec dlx x view info login logout publish pack config cache link global whoami search \
     version self tool python venv --version -v",
);

/// Returns the demand of a shell command: it manages the project's packages with its program. A command that sets the
/// machine up, such as `npm i -g corepack` or `pip install uv`, does not.
pub(crate) fn read_command_demand(line: &str) -> Option<Demand> {
    let mut words = line.split_whitespace();
    let (name, language) = find_package_manager(words.next()?)?;
    let arguments: Vec<&str> =
        words.take_while(|word| !["&&", "||", ";", "|"].contains(word)).collect();
    let is_of_machine = |word: &&str| {
        ["-g", "--global", "--user", "--location=global", "corepack"].contains(word)
            || find_package_manager(
                word.trim_matches(['\'', '"']).split(['@', '=', '>', '<']).next().unwrap_or(word),
            )
            .is_some()
    };
    let is_of_project = !arguments.first().is_some_and(|first| MACHINE_COMMANDS.contains(first))
        && !arguments.iter().any(is_of_machine);
    is_of_project.then(|| Demand {
        is_command: true,
        ..Demand::new(Topic::PackageManager(language), name, false)
    })
}

/// Reads the demands of a sentence, with the offset at which it begins.
pub(crate) fn parse_demands(passage: &Passage, sentence: &str) -> Vec<Demand> {
    let plain = sentence.trim().trim_end_matches(['.', '!', ';', ':']).trim();
    let is_question = sentence.trim_end().ends_with('?');
    if plain.len() > 160
        || is_question
        || passage.is_heading
        || passage.is_cell
        || plain.contains(['❌', '✅', '"', '→'])
    {
        return Vec::new();
    }
    let lower = plain.to_lowercase();
    let (label, lower) = split_label(&lower);
    let words = words_of(lower);
    if words.is_empty() || words.iter().any(|word| HEDGES.contains(word)) {
        return Vec::new();
    }
    let (is_ban, rest) = parse_stance(&words);
    let mut found: Vec<Demand> =
        parse_style(lower, label, &words, rest, is_ban).into_iter().collect();
    found.extend(parse_naming(label, &words));
    found.extend(test_command(label, lower));
    found.extend(package_manager(label, rest, &words, is_ban));
    if found.is_empty() && label.is_none() {
        found.extend(parse_practice(lower, rest, is_ban));
    }
    found
}

/// Splits `**Label**: text` into both; the label has three words at most.
fn split_label(text: &str) -> (Option<&str>, &str) {
    match text.split_once(": ") {
        Some((label, rest)) if label.split_whitespace().count() <= 3 && !label.contains('`') => {
            (Some(label.trim()), rest.trim())
        }
        _ => (None, text),
    }
}

fn words_of(text: &str) -> Vec<&str> {
    let is_mark = |letter: char| {
        letter.is_whitespace() || matches!(letter, ',' | '(' | ')' | '`' | '*' | '"')
    };
    let words = text.split(is_mark).map(|word| word.trim_end_matches(['.', ';', ':']));
    words.filter(|word| !word.is_empty()).collect()
}

/// Returns whether the words ban something, and the words behind that.
fn parse_stance<'w, 'l>(words: &'w [&'l str]) -> (bool, &'w [&'l str]) {
    const BANS: [&[&str]; 11] = [
        &["never"],
        &["do", "not"],
        &["don't"],
        &["don’t"],
        &["avoid"],
        &["must", "not"],
        &["you", "must", "not"],
        &["you", "must", "never"],
        &["no"],
        &["always", "avoid"],
        &["please", "do", "not"],
    ];
    const DEMANDS: [&[&str]; 7] = [
        &["always"],
        &["you", "must"],
        &["must"],
        &["please"],
        &["we"],
        &["you", "should"],
        &["exclusively"],
    ];
    let starts = |phrase: &&&[&str]| words.starts_with(phrase);
    if let Some(ban) = BANS.iter().find(starts) {
        return (true, &words[ban.len()..]);
    }
    (false, DEMANDS.iter().find(starts).map_or(words, |demand| &words[demand.len()..]))
}

/// Reads package managers: "use pnpm", "never use npm or yarn", "use uv instead of pip".
fn package_manager(
    label: Option<&str>,
    rest: &[&str],
    words: &[&str],
    is_ban: bool,
) -> Vec<Demand> {
    let demand = |word: &str, is_ban: bool| {
        let (name, language) = find_package_manager(word)?;
        Some(Demand::new(Topic::PackageManager(language), name, is_ban))
    };
    if label.is_some_and(|label| label.ends_with("package manager")) {
        let only = words.first().filter(|_| words.len() <= 2);
        return only.and_then(|word| demand(word, false)).into_iter().collect();
    }
    let (["use" | "using", "the", behind @ ..]
    | ["use" | "using", behind @ ..]
    | ["install", "packages" | "dependencies", "with" | "using", behind @ ..]) = rest
    else {
        return Vec::new();
    };
    let [first, rest @ ..] = behind else { return Vec::new() };
    let Some(main) = demand(first, is_ban) else { return Vec::new() };
    let mut found = vec![main];
    let ends = |rest: &[&str]| {
        matches!(
            rest,
            [] | ["as", "the" | "our" | "a" | "your", "package", "manager", ..]
                | ["for", "package", "management" | "installation", ..]
                | [
                    "for",
                    "dependency"
                        | "dependencies"
                        | "all"
                        | "installing"
                        | "everything"
                        | "managing",
                    ..
                ]
                | ["to", "install" | "manage", ..]
                | [
                    "in",
                    "this" | "the",
                    "repo" | "repository" | "project" | "codebase" | "monorepo"
                ]
                | ["here" | "commands" | "workspaces"]
        )
    };
    match rest {
        ["instead", "of", others @ ..]
        | ["not" | "never" | "over", others @ ..]
        | ["and", "not", others @ ..]
            if !is_ban =>
        {
            let is_soft = rest[0] == "over";
            let others = others.iter().take_while(|word| {
                find_package_manager(word).is_some() || ["or", "and"].contains(*word)
            });
            found.extend(others.filter(|_| !is_soft).filter_map(|word| demand(word, true)));
            found
        }
        ["or" | "and", others @ ..] if is_ban => {
            found.extend(others.iter().map_while(|word| demand(word, true)));
            found
        }
        rest if ends(rest) => found,
        // `never use npm, yarn`.
        [other, ..] if is_ban && find_package_manager(other).is_some() => {
            let others = rest.iter().filter(|word| !["or", "and"].contains(*word));
            found.extend(others.map_while(|word| demand(word, true)));
            found
        }
        _ => Vec::new(),
    }
}

fn parse_number(word: &str) -> Option<u32> {
    match word {
        "two" => Some(2),
        "four" => Some(4),
        "eight" => Some(8),
        word => word.parse().ok(),
    }
}

/// Reads indentation, quotes, semicolons and line length.
fn parse_style(
    lower: &str,
    label: Option<&str>,
    words: &[&str],
    rest: &[&str],
    is_ban: bool,
) -> Option<Demand> {
    let label = label.unwrap_or_default();
    let of = |topic: Topic, value: &str| Some(Demand::new(topic, value, is_ban));
    let spaces = |width: u32| of(Topic::Indentation, &format!("{width} spaces"));
    let is_indent = label.contains("indent") || lower.contains("indent");
    let has_tab = lower.contains("tab");
    let demand = match rest {
        ["use", "tabs"]
        | ["use", "tabs", "for", "indentation" | "indenting", ..]
        | ["indent", "with" | "using", "tabs", ..]
        | ["use", "tabs", "not" | "instead", ..]
        | ["use", "tab", "indentation"]
        | ["tabs", "for", "indentation", ..] => of(Topic::Indentation, "tabs"),
        ["tabs"] if is_indent => of(Topic::Indentation, "tabs"),
        ["use", "spaces", ..] if is_indent || has_tab || rest.len() == 2 => {
            of(Topic::Indentation, "spaces")
        }
        ["use", width, "spaces" | "space", ..] if is_indent || has_tab || rest.len() == 3 => {
            parse_number(width).and_then(spaces)
        }
        [width, "spaces" | "space", ..] if is_indent && rest.len() <= 5 => {
            parse_number(width).and_then(spaces)
        }
        ["indent", "with" | "using" | "by", width, "spaces", ..] => {
            parse_number(width).and_then(spaces)
        }
        ["use", joined, "indentation" | "indents" | "indent"]
        | [joined, "indentation" | "indents"] => {
            let width = joined.strip_suffix("-space").or_else(|| joined.strip_suffix("-spaces"));
            width.and_then(parse_number).and_then(spaces)
        }
        ["use" | "prefer", kind @ ("single" | "double"), "quotes"]
        | [
            "use" | "prefer",
            kind @ ("single" | "double"),
            "quotes",
            "for",
            "strings" | "all",
            ..,
        ]
        | [kind @ ("single" | "double"), "quotes"]
        | [kind @ ("single" | "double"), "quotes", "for", "strings"] => of(Topic::Quotes, kind),
        ["use", "semicolons"] | ["semicolons"] | ["end", "statements", "with", "semicolons"] => {
            of(Topic::Semicolons, "semicolons")
        }
        ["omit" | "skip", "semicolons"] => Some(Demand::new(Topic::Semicolons, "semicolons", true)),
        _ => None,
    };
    demand.or_else(|| {
        line_length(lower, label, words).and_then(|length| of(Topic::LineLength, &length))
    })
}

fn line_length(lower: &str, label: &str, words: &[&str]) -> Option<String> {
    let length = words.iter().find_map(|word| {
        let word =
            word.strip_suffix("-character").or_else(|| word.strip_suffix("-char")).unwrap_or(word);
        word.parse::<u32>().ok().filter(|length| (60..=200).contains(length))
    });
    let numbers = words.iter().filter(|word| word.parse::<u32>().is_ok()).count();
    let is_length = ["line length", "characters per line", "line width"]
        .iter()
        .any(|said| lower.contains(said) || label.contains(said))
        || lower.starts_with("lines ")
        || lower.starts_with("keep lines");
    let length = length.filter(|_| is_length && numbers <= 1 && words.len() <= 9)?;
    Some(length.to_string())
}

const CASES: [(&str, &str); 10] = [
    ("snake_case", "snake_case"),
    ("camelcase", "camelCase"),
    ("pascalcase", "PascalCase"),
    ("kebab-case", "kebab-case"),
    ("upper_snake_case", "UPPER_SNAKE_CASE"),
    ("screaming_snake_case", "UPPER_SNAKE_CASE"),
    ("upper_case", "UPPER_SNAKE_CASE"),
    ("uppercase_snake_case", "UPPER_SNAKE_CASE"),
    ("lowercamelcase", "camelCase"),
    ("uppercamelcase", "PascalCase"),
];

fn find_case(word: &str) -> Option<&'static str> {
    CASES.iter().find(|(name, _)| *name == word).map(|(_, case)| *case)
}

/// Reads "use `snake_case` for functions and variables", "functions: `camelCase`", "classes use `PascalCase`".
fn parse_naming(label: Option<&str>, words: &[&str]) -> Vec<Demand> {
    let mut cases = words.iter().enumerate().filter_map(|(at, word)| Some((at, find_case(word)?)));
    let (Some((at, case)), None) = (cases.next(), cases.next()) else { return Vec::new() };
    let objects: &[&str] = match (label, at, words) {
        (Some(label), 0, [_]) => {
            return naming_demands(&label.split(' ').collect::<Vec<_>>(), case);
        }
        (None, _, ["use" | "prefer", _, "for", objects @ ..]) if at == 1 => objects,
        (None, 0, [_, "for", objects @ ..]) => objects,
        (None, _, [objects @ .., "use" | "are" | "in", _]) if at + 1 == words.len() => objects,
        (None, _, [objects @ .., "must" | "should", "be" | "use", _]) if at + 1 == words.len() => {
            objects
        }
        (None, _, ["name", objects @ .., "in", _]) if at + 1 == words.len() => objects,
        _ => return Vec::new(),
    };
    naming_demands(objects, case)
}

/// Returns a demand for each of the things: "functions and variables" are two.
fn naming_demands(objects: &[&str], case: &str) -> Vec<Demand> {
    if objects.len() > 6 {
        return Vec::new();
    }
    let is_article = |word: &&&str| !["all", "the", "names", "name", "naming"].contains(*word);
    let parts = objects.split(|word| ["and", "or", "&"].contains(word));
    let phrase = |part: &[&str]| {
        let words: Vec<String> =
            part.iter().filter(is_article).map(|word| singular_form(word)).collect();
        words.join(" ")
    };
    let phrases: Vec<String> = parts.map(phrase).filter(|phrase| !phrase.is_empty()).collect();
    // `python functions`: a qualifier belongs to one of them only.
    if phrases.iter().any(|phrase| phrase.split(' ').count() > 2) {
        return Vec::new();
    }
    phrases.into_iter().map(|phrase| Demand::new(Topic::Naming(phrase), case, false)).collect()
}

fn singular_form(word: &str) -> String {
    match word {
        "classes" => "class".to_owned(),
        "directories" => "directory".to_owned(),
        word => {
            word.strip_suffix('s').filter(|stem| !stem.ends_with('s')).unwrap_or(word).to_owned()
        }
    }
}

/// Words before a command that runs tests.
const RUN_TESTS: [&str; 11] = split_phrases(
    "run tests with|run the tests with|run all tests with|run tests using|\
     run the tests using|run tests via|run tests by running|execute tests with|\
     run the test suite with|run tests|use",
);

/// Reads "run tests with `pytest`", "tests: `cargo nextest run`".
fn test_command(label: Option<&str>, lower: &str) -> Option<Demand> {
    let (before, rest) = lower.split_once('`')?;
    let (command, after) = rest.split_once('`')?;
    let before = before.trim().trim_end_matches(':').trim();
    let is_label = label.is_some_and(|label| {
        ["test", "tests", "run tests", "test command", "testing", "run all tests"].contains(&label)
    });
    let is_test = before.is_empty() && is_label
        || RUN_TESTS.contains(&before)
            && (before != "use"
                || after.trim() == "to run tests"
                || after.trim() == "to run the tests");
    if !is_test || !after.trim().is_empty() && before != "use" {
        return None;
    }
    let (kind, value) = test_runner(command)?;
    Some(Demand::new(Topic::TestRunner(kind), value, false))
}

fn test_runner(command: &str) -> Option<(&'static str, String)> {
    let mut words: Vec<&str> = command.split_whitespace().collect();
    if words.first().is_some_and(|first| ["npx", "bunx"].contains(first)) {
        words.remove(0);
    }
    let (kind, value) = match words.as_slice() {
        ["uv" | "poetry" | "pdm", "run", "pytest"]
        | ["pytest"]
        | ["python" | "python3", "-m", "pytest"] => ("python", "pytest"),
        ["python" | "python3", "-m", "unittest"] => ("python", "unittest"),
        [runner @ ("vitest" | "jest" | "mocha" | "ava")]
        | [runner @ ("vitest" | "jest"), "run"] => ("js framework", *runner),
        [manager @ ("npm" | "pnpm" | "yarn" | "bun"), "test"]
        | [manager @ ("npm" | "pnpm" | "yarn" | "bun"), "run", "test"] => {
            return Some(("js", format!("{manager} test")));
        }
        ["cargo", "test"] => ("rust", "cargo test"),
        ["cargo", "nextest", "run"] => ("rust", "cargo nextest"),
        _ => return None,
    };
    Some((kind, value.to_owned()))
}

/// Words that begin a demand.
const VERBS: [&str; 34] = split_words(
    "use add write create run include commit push import export keep put place name document \
     mock wrap throw catch log return prefer define declare edit modify update delete remove \
     generate skip test validate format",
);

/// Reads "always add type hints", "never use `any`".
fn parse_practice(lower: &str, rest: &[&str], is_ban: bool) -> Vec<Demand> {
    let [verb, objects @ ..] = rest else { return Vec::new() };
    let gerund = verb.strip_suffix("ing").filter(|_| is_ban);
    let verb = VERBS.iter().copied().find(|known| match gerund {
        Some(stem) => *known == stem || known.strip_suffix('e') == Some(stem),
        None => known == verb,
    });
    // `avoid any`, `no emojis`.
    let is_brief = ["avoid ", "no "].iter().any(|word| lower.starts_with(word));
    let is_short = is_ban && verb.is_none() && rest.len() <= 2 && is_brief;
    let (verb, objects) = match verb {
        Some(verb) => (verb, objects),
        None if is_short => ("use", rest),
        None => return Vec::new(),
    };
    let objects: Vec<&str> = objects
        .iter()
        .copied()
        .filter(|word| {
            !["a", "an", "the", "any", "all"].contains(word) || lower.contains(&format!("`{word}`"))
        })
        .collect();
    if objects.is_empty() || objects.len() > 10 {
        return Vec::new();
    }
    let here = ["in", "this", "repo", "repository", "project", "codebase"];
    let is_whole = objects.len() == 1 || objects[1..].iter().all(|word| here.contains(word));
    if verb == "use" && is_whole {
        return vec![Demand::new(Topic::Tool(objects[0].to_owned()), "", is_ban)];
    }
    let mut found =
        vec![Demand::new(Topic::Practice(format!("{verb} {}", objects.join(" "))), "", is_ban)];
    // A thing that is used for something is used; a ban for something is not a ban of all.
    let is_code = lower.contains(&format!("`{}`", objects[0]));
    if verb == "use" && !is_ban && is_code && ["for", "to"].contains(&objects[1]) {
        found.push(Demand::new(Topic::Tool(objects[0].to_owned()), "", false));
    }
    found
}
