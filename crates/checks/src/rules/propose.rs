//! A check for the text of a rule, where a simple grammar reads it: "never run X", "use X, not Y", "do not edit X".
//!
//! A proposal is for its author to read: it is printed and never used. A text that the grammar does not read gets none,
//! because a wrong check is worse than a missing one.

/// Programs whose names mean a command in "use X, not Y".
const PROGRAMS: &str = "apt brew bun bunx bundle cargo composer conda deno docker eslint gem gh git go gradle jest make mvn mypy nix \
                        node npm npx nx pip pip3 pipenv pipx pnpm podman poetry prettier pytest python rake ruff rush rustc svn \
                        terraform tofu tox tsc turbo uv uvx vitest yarn";

/// A check with examples, in YAML.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProposedCheck {
    pub yaml: String,
}

/// Returns a check for the text of a rule; `None` if the grammar does not read it.
pub fn propose_check(text: &str) -> Option<ProposedCheck> {
    let text = text.trim().trim_start_matches(['-', '*', '#', ' ']).trim();
    let text = text.trim_end_matches(['.', '!']).replace("**", "");
    let words = Sentence::new(&text);
    let readers: [fn(&Sentence) -> Option<Parts>; 6] = [
        read_import,
        read_run_before,
        read_together,
        read_preference,
        read_paths,
        read_forbidden_command,
    ];
    let parts = readers.iter().find_map(|read| read(&words))?;
    Some(ProposedCheck { yaml: parts.render() })
}

/// The parts of a proposal.
struct Parts {
    check: String,
    instead: Option<String>,
    broken: String,
    kept: String,
}

impl Parts {
    fn render(&self) -> String {
        let Parts { check, instead, broken, kept } = self;
        let instead = instead
            .as_ref()
            .map(|text| format!("  instead: {}\n", quote(text)))
            .unwrap_or_default();
        format!(
            "check:\n  {check}\n{instead}enforce: warn\nexamples:\n  broken: [{broken}]\n  kept: [{kept}]\n"
        )
    }
}

/// A text as words; what is in backticks is one word.
struct Sentence {
    words: Vec<Word>,
}

struct Word {
    text: String,
    is_code: bool,
}

impl Sentence {
    fn new(text: &str) -> Sentence {
        let mut words = Vec::new();
        for (index, part) in text.split('`').enumerate() {
            if index % 2 == 1 {
                words.push(Word { text: part.trim().to_owned(), is_code: true });
                continue;
            }
            for word in part.split_whitespace() {
                let word = word.trim_matches(|sign: char| ",;:()\"'".contains(sign));
                if !word.is_empty() {
                    words.push(Word { text: word.to_owned(), is_code: false });
                }
            }
        }
        Sentence { words }
    }

    /// Returns the words behind the first place where these follow each other, in any case. `|` separates alternatives.
    fn after(&self, phrase: &str) -> Option<&[Word]> {
        let phrase: Vec<Vec<&str>> =
            phrase.split(' ').map(|word| word.split('|').collect()).collect();
        let fits = |window: &[Word]| {
            window.iter().zip(&phrase).all(|(word, options)| {
                !word.is_code && options.iter().any(|option| word.text.eq_ignore_ascii_case(option))
            })
        };
        let at = self.words.windows(phrase.len()).position(fits)?;
        Some(&self.words[at + phrase.len()..])
    }

    /// Returns the words behind one of the ways to say no.
    fn after_no(&self, verb: &str) -> Option<&[Word]> {
        let ways = [format!("never {verb}"), format!("not {verb}"), format!("don't|dont {verb}")];
        ways.iter().find_map(|way| self.after(way))
    }
}

/// Returns the objects at the beginning of some words: what is in backticks, or words that look like code, joined by "or".
fn objects(words: &[Word], is_meant: impl Fn(&Word) -> bool) -> Vec<&str> {
    let mut found = Vec::new();
    for word in words {
        if word.is_code || is_meant(word) {
            found.push(word.text.as_str());
        } else if !matches!(
            word.text.to_ascii_lowercase().as_str(),
            "or" | "and" | "the" | "a" | "an" | "any" | "files" | "in" | "from" | "directly" | "to"
        ) || !found.is_empty() && !matches!(word.text.as_str(), "or" | "and")
        {
            break;
        }
    }
    found
}

fn is_path(word: &Word) -> bool {
    let text = word.text.as_str();
    (text.contains('/') || text.contains('*') || text.trim_start_matches('.').contains('.'))
        && !text.contains(' ')
        && !text.contains("://")
}

fn is_program(word: &Word) -> bool {
    PROGRAMS.split_whitespace().any(|program| program == word.text)
}

/// Returns a glob for a path as people write it: a directory is everything in it.
fn as_glob(path: &str) -> String {
    let path = path.trim_start_matches("./");
    match path.strip_suffix('/') {
        Some(directory) => format!("{directory}/**"),
        None if path.contains('*') => path.to_owned(),
        None if !path.rsplit('/').next().unwrap_or(path).contains('.') => format!("{path}/**"),
        None => path.to_owned(),
    }
}

/// Returns a path that a glob matches.
fn example_path(glob: &str) -> String {
    glob.replace("**/", "a/").replace("**", "a/b").replace('*', "a")
}

fn quote(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

fn quote_list(texts: &[impl AsRef<str>]) -> String {
    match texts {
        [one] => quote(one.as_ref()),
        _ => {
            let texts: Vec<String> = texts.iter().map(|text| quote(text.as_ref())).collect();
            format!("[{}]", texts.join(", "))
        }
    }
}

/// "Do not import from X".
fn read_import(sentence: &Sentence) -> Option<Parts> {
    let modules =
        objects(sentence.after_no("import")?, |word| !word.text.is_empty() && is_path(word));
    let module = modules.first()?;
    let escaped: String = module
        .chars()
        .flat_map(|letter| {
            let is_plain = letter.is_alphanumeric() || "_-/@".contains(letter);
            (!is_plain).then_some('\\').into_iter().chain([letter])
        })
        .collect();
    let pattern = format!("/(from|import|require\\(|use) ?['\"]?{escaped}(['\"/;. :]|$)/");
    Some(Parts {
        check: format!("forbid: {{ text: {} }}", quote(&pattern)),
        instead: None,
        broken: quote(&format!("import x from '{module}'")),
        kept: quote("import x from 'other-module'"),
    })
}

/// "Always run X before committing".
fn read_run_before(sentence: &Sentence) -> Option<Parts> {
    let words = sentence.after("run")?;
    let before = words.iter().position(|word| word.text.eq_ignore_ascii_case("before"))?;
    let commands: Vec<&str> =
        words[..before].iter().filter(|word| word.is_code).map(|word| word.text.as_str()).collect();
    let (command, limit) = (commands.first()?, words.get(before + 1..)?);
    let is_commit =
        limit.iter().take(3).any(|word| word.text.to_ascii_lowercase().starts_with("commit"));
    let is_end = limit.iter().take(4).any(|word| {
        let word = word.text.to_ascii_lowercase();
        ["finish", "stop", "done", "end", "complet", "hand"].iter().any(|end| word.starts_with(end))
    });
    if commands.len() > 1 || is_commit == is_end {
        return None;
    }
    let limit = if is_commit { "commit" } else { "stop" };
    Some(Parts {
        check: format!("require: {{ run: {}, after: edit, before: {limit} }}", quote(command)),
        instead: None,
        broken: quote("true"),
        kept: quote(command),
    })
}

/// "Every change to Z needs a Y", "Always add a Y with Z".
fn read_together(sentence: &Sentence) -> Option<Parts> {
    let paths = |words: &[Word]| -> Vec<String> {
        words.iter().filter(|word| is_path(word)).map(|word| as_glob(&word.text)).collect()
    };
    let (needed, when) = if let Some(words) = sentence.after("every|each|any change to|in|of") {
        let needs = ["needs", "requires", "must", "comes", "gets"];
        let at = words.iter().position(|word| needs.contains(&word.text.as_str()))?;
        (paths(&words[at..]), paths(&words[..at]))
    } else {
        let words = sentence.after("always add|update|include|change")?;
        let at = words
            .iter()
            .position(|word| matches!(word.text.as_str(), "with" | "when" | "for" | "if"))?;
        (paths(&words[..at]), paths(&words[at..]))
    };
    let (first, trigger) = (needed.first()?, when.first()?);
    let (change, path) = (example_path(first), example_path(trigger));
    Some(Parts {
        check: format!(
            "require: {{ change: {}, when: {} }}",
            quote_list(&needed),
            quote_list(&when)
        ),
        instead: None,
        broken: quote(&path),
        kept: quote(&format!("{path} {change}")),
    })
}

/// "Use X, not Y", "Use X instead of Y".
fn read_preference(sentence: &Sentence) -> Option<Parts> {
    let words = sentence.after("use|prefer")?;
    let is_turn = |index: &usize| {
        let word = words[*index].text.to_ascii_lowercase();
        !words[*index].is_code
            && matches!(word.as_str(), "not" | "never" | "instead" | "over" | "rather")
    };
    let at = (0..words.len()).find(is_turn)?;
    let wanted = objects(&words[..at], is_program);
    let rest = &words[at + 1..];
    let skipped = rest
        .iter()
        .take_while(|word| {
            !word.is_code && matches!(word.text.as_str(), "of" | "than" | "use" | "run" | "using")
        })
        .count();
    let unwanted = objects(&rest[skipped..], is_program);
    let (good, bad) = (wanted.first()?, unwanted.first()?);
    let is_command = |text: &str| {
        let first = text.split_whitespace().next().unwrap_or_default().to_owned();
        is_program(&Word { text: first, is_code: false })
    };
    let (key, instead) = if is_command(bad) {
        ("command", Some((*good).to_owned()))
    } else {
        ("text", Some((*good).to_owned()))
    };
    let example =
        |text: &str| if key == "command" { quote(text) } else { quote(&format!("a {text} b")) };
    // A text that contains the other one could not be kept.
    if unwanted.iter().any(|bad| good.contains(bad) && key == "text" || good == bad) {
        return None;
    }
    Some(Parts {
        check: format!("forbid: {{ {key}: {} }}", quote_list(&unwanted)),
        instead,
        broken: example(bad),
        kept: example(good),
    })
}

/// "Do not edit X", "Never create X", "Never delete X".
fn read_paths(sentence: &Sentence) -> Option<Parts> {
    let ways = [
        ("edit|modify|change|touch|update|alter", "change"),
        ("create|add", "create"),
        ("delete|remove", "delete"),
    ];
    ways.iter().find_map(|(verbs, key)| {
        let words = sentence.after_no(verbs)?;
        let found: Vec<String> = objects(words, is_path)
            .into_iter()
            .filter(|text| is_path(&Word { text: (*text).to_owned(), is_code: false }))
            .map(as_glob)
            .collect();
        let first = found.first()?;
        Some(Parts {
            check: format!("forbid: {{ {key}: {} }}", quote_list(&found)),
            instead: None,
            broken: quote(&example_path(first)),
            kept: quote("some/other/path.txt"),
        })
    })
}

/// "Never run X".
fn read_forbidden_command(sentence: &Sentence) -> Option<Parts> {
    let words = sentence.after_no("run|execute|call|invoke|use")?;
    let is_run = sentence.after_no("run|execute|invoke").is_some();
    let commands = objects(words, is_program);
    let first = commands.first()?;
    let program = first.split_whitespace().next().unwrap_or_default().to_owned();
    // "Never use X" is about a command only if X is a program.
    if !is_run && !is_program(&Word { text: program, is_code: false }) {
        return None;
    }
    Some(Parts {
        check: format!("forbid: {{ command: {} }}", quote_list(&commands)),
        instead: None,
        broken: quote(first),
        kept: quote("ls"),
    })
}
