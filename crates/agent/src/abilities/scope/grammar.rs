//! A grammar of a program's options, and the check of arguments against it.
//!
//! Grammars are written in tables, `programs.txt` and `git.txt`. A line that is not indented begins the
//! grammar of a program, or of a command of a program: its name, its operands, and fields. The indented lines
//! below it list its options, separated by blanks.
//!
//! - Operands are `nothing`, `texts`, `revisions` (and paths), `paths` or `paths=2` (at most two), `text-then-paths`
//!   and `text-then-revisions` (with `=-e,--regexp`: only paths or revisions after one of these options), or
//!   `command=list,push` (one of these words, then revisions and paths; or no operands).
//! - `added=` lists options that are put before all others, `one-of=` options of which at least one is required.
//! - The option `-a` has no value, `-a=` has one, which may be the next word, and `-a[]` may have one in the same
//!   word. `=@` is the path of a file, `=*` any text. `-#` is a number. Long options have the same forms.
//! - `@diff` in place of a name begins a list of options, and stands for them where it is an option.

use super::Checks;

/// The allowed arguments of one program, or of one command of a program.
#[derive(Default)]
pub(super) struct Grammar {
    pub(super) name: &'static str,
    options: Vec<&'static str>,
    operands: Operands,
    added: Vec<&'static str>,
    one_of: Vec<&'static str>,
}

#[derive(Default)]
enum Operands {
    #[default]
    Nothing,
    /// Paths in the project, up to this number.
    Paths(usize),
    TextThenPaths(Vec<&'static str>),
    TextThenRevisions(Vec<&'static str>),
    Texts,
    Revisions,
    Command(Vec<&'static str>),
}

/// The value of an option.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OptionValue {
    None,
    /// In the same word or the next one.
    Required(ValueContent),
    Optional,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ValueContent {
    /// Any value. As a separate word it is checked like an operand, because another program may take it for
    /// one.
    Plain,
    /// Any text, without a check.
    Text,
    Path,
}

impl Grammar {
    /// Reads a table. A mistake in it ends the program: a check must not become weaker.
    pub(super) fn read_table(table: &'static str) -> Vec<Grammar> {
        let mut grammars: Vec<Grammar> = Vec::new();
        for line in table.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            if !line.starts_with(' ') {
                grammars.push(Grammar::read_head(line));
                continue;
            }
            for word in line.split_ascii_whitespace() {
                let listed =
                    grammars.iter().find(|list| word.starts_with('@') && list.name == word);
                let options = listed.map_or_else(|| vec![word], |list| list.options.clone());
                let grammar = grammars.last_mut().expect("options stand below a name");
                grammar.options.extend(options);
            }
        }
        grammars
    }

    fn read_head(line: &'static str) -> Grammar {
        let mut words = line.split_ascii_whitespace();
        let name = words.next().unwrap_or_default();
        let mut grammar = Grammar { name, ..Grammar::default() };
        for word in words {
            let (field, value) = word.split_once('=').unwrap_or((word, ""));
            let list = value.split(',').filter(|part| !part.is_empty()).collect();
            match field {
                "added" => grammar.added = list,
                "one-of" => grammar.one_of = list,
                "nothing" => grammar.operands = Operands::Nothing,
                "texts" => grammar.operands = Operands::Texts,
                "revisions" => grammar.operands = Operands::Revisions,
                "paths" if value.is_empty() => grammar.operands = Operands::Paths(usize::MAX),
                "paths" => {
                    let most = value.parse().expect("the most paths are a number");
                    grammar.operands = Operands::Paths(most);
                }
                "text-then-paths" => grammar.operands = Operands::TextThenPaths(list),
                "text-then-revisions" => grammar.operands = Operands::TextThenRevisions(list),
                "command" => grammar.operands = Operands::Command(list),
                _ => unreachable!("`{field}` of `{name}` is not a field of a grammar"),
            }
        }
        grammar
    }

    /// Returns the arguments to start the program with. The error is a reason.
    pub(super) fn scope_arguments(
        &self,
        program: &str,
        args: &[String],
        checks: Checks<'_>,
    ) -> Result<Vec<String>, String> {
        let reading = ArgumentReader::read(self, program, args, checks)?;
        reading.check_operands()?;
        let has_one = |names: &[&str]| names.iter().any(|name| reading.seen.contains(name));
        if !self.one_of.is_empty() && !has_one(&self.one_of) {
            let names = self.one_of.join("`, `");
            return Err(format!("one of `{names}` is required, as a separate word or with `-`"));
        }
        let added = self.added.iter().map(|word| (*word).to_owned());
        Ok(added.chain(args.iter().cloned()).collect())
    }

    /// Splits the arguments that [`Grammar::words`] returned.
    pub(super) fn split_arguments(
        &self,
        program: &str,
        args: &[String],
    ) -> Result<SplitArguments, String> {
        let any = |_: &str| Ok(());
        let checks = Checks { path: &any, revision: &any };
        let (added, args) = args.split_at(self.added.len().min(args.len()));
        let reading = ArgumentReader::read(self, program, args, checks)?;
        let texts = match &self.operands {
            Operands::TextThenPaths(options) | Operands::TextThenRevisions(options) => {
                usize::from(!options.iter().any(|name| reading.seen.contains(name)))
            }
            _ => 0,
        };
        let texts = texts.min(reading.operands.len());
        let owned = |words: &[&String]| -> Vec<String> {
            words.iter().map(|word| (*word).clone()).collect()
        };
        Ok(SplitArguments {
            names: reading.seen,
            options: added.iter().cloned().chain(owned(&reading.options)).collect(),
            directories: reading.directories,
            texts: owned(&reading.operands[..texts]),
            paths: owned(&reading.operands[texts..]),
        })
    }

    /// Returns the options, as the table writes them.
    #[cfg(test)]
    pub(super) fn options(&self) -> &[&'static str] {
        &self.options
    }

    /// Finds an option by its whole name.
    fn find_option(&self, name: &str) -> Option<(&'static str, OptionValue)> {
        self.options.iter().find_map(|entry| {
            let end = entry.find(['=', '[']).unwrap_or(entry.len());
            let (known, kind) = entry.split_at(end);
            let value = match kind {
                "" => OptionValue::None,
                "[]" => OptionValue::Optional,
                "=*" => OptionValue::Required(ValueContent::Text),
                "=@" => OptionValue::Required(ValueContent::Path),
                _ => OptionValue::Required(ValueContent::Plain),
            };
            (known == name).then_some((known, value))
        })
    }
}

pub(super) struct SplitArguments {
    names: Vec<&'static str>,
    /// The words of all options, with their values.
    pub(super) options: Vec<String>,
    /// The values of options with which a program changes its directory.
    pub(super) directories: Vec<String>,
    /// The operands that are no paths.
    pub(super) texts: Vec<String>,
    pub(super) paths: Vec<String>,
}

impl SplitArguments {
    /// Returns whether one of these options is there.
    pub(super) fn contains_any(&self, names: &[&str]) -> bool {
        names.iter().any(|name| self.names.contains(name))
    }

    /// Returns the words with more options and operands.
    pub(super) fn into_arguments(self, options: Vec<String>, operands: Vec<String>) -> Vec<String> {
        let parts =
            [self.options, options, vec!["--".to_owned()], self.texts, self.paths, operands];
        parts.into_iter().flatten().collect()
    }
}

/// Arguments during their check against a grammar.
struct ArgumentReader<'r> {
    grammar: &'r Grammar,
    program: &'r str,
    checks: Checks<'r>,
    seen: Vec<&'static str>,
    options: Vec<&'r String>,
    directories: Vec<String>,
    operands: Vec<&'r String>,
}

impl<'r> ArgumentReader<'r> {
    fn read(
        grammar: &'r Grammar,
        program: &'r str,
        args: &'r [String],
        checks: Checks<'r>,
    ) -> Result<ArgumentReader<'r>, String> {
        let mut reading = ArgumentReader {
            grammar,
            program,
            checks,
            seen: Vec::new(),
            options: Vec::new(),
            directories: Vec::new(),
            operands: Vec::new(),
        };
        let mut rest = args.iter();
        while let Some(word) = rest.next() {
            if word == "--" {
                reading.operands.extend(rest.by_ref());
                break;
            }
            let after = rest.as_slice();
            if let Some(long) = word.strip_prefix("--") {
                reading.read_long_option(long, &mut rest)?;
            } else if word.len() > 1 && word.starts_with('-') {
                reading.read_short_options(word, &mut rest)?;
            } else {
                reading.operands.push(word);
                continue;
            }
            let values = after.len() - rest.as_slice().len();
            reading.options.push(word);
            reading.options.extend(after.iter().take(values));
        }
        Ok(reading)
    }

    fn read_long_option(
        &mut self,
        word: &str,
        rest: &mut std::slice::Iter<'r, String>,
    ) -> Result<(), String> {
        let (name, glued) = match word.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (word, None),
        };
        let (known, value) = self.resolve_option(&format!("--{name}"))?;
        self.seen.push(known);
        match (value, glued) {
            (OptionValue::None, None) | (OptionValue::Optional, _) => Ok(()),
            (OptionValue::None, Some(_)) => Err(format!("`{known}` takes no value")),
            (OptionValue::Required(content), Some(value)) => {
                self.check_value(known, content, value)
            }
            (OptionValue::Required(content), None) => self.next(known, content, rest),
        }
    }

    /// Parses short options in one word.
    fn read_short_options(
        &mut self,
        word: &str,
        rest: &mut std::slice::Iter<'r, String>,
    ) -> Result<(), String> {
        let letters = word.get(1..).unwrap_or_default();
        if letters.bytes().all(|letter| letter.is_ascii_digit()) {
            return self
                .resolve_option("-#")
                .map(|(known, _)| self.seen.push(known))
                .map_err(|_| format!("`sh:{}` does not cover the option `{word}`", self.program));
        }
        // Some programs have options of several letters after one `-`.
        for (at, letter) in letters.char_indices() {
            let (known, value) = self.resolve_option(&format!("-{letter}"))?;
            self.seen.push(known);
            let glued = letters.get(at + letter.len_utf8()..).unwrap_or_default();
            match value {
                OptionValue::None => {}
                OptionValue::Optional => return Ok(()),
                OptionValue::Required(content) if glued.is_empty() => {
                    return self.next(known, content, rest);
                }
                OptionValue::Required(content) => return self.check_value(known, content, glued),
            }
        }
        Ok(())
    }

    fn resolve_option(&self, name: &str) -> Result<(&'static str, OptionValue), String> {
        self.grammar.find_option(name).ok_or_else(|| {
            let program = self.program;
            format!("`sh:{program}` does not cover the option `{name}`; write names in full")
        })
    }

    fn check_value(
        &mut self,
        known: &str,
        content: ValueContent,
        value: &str,
    ) -> Result<(), String> {
        match content {
            ValueContent::Path => {
                if matches!(known, "-C" | "--directory") {
                    self.directories.push(value.to_owned());
                }
                (self.checks.path)(value).map_err(|reason| format!("`{known}`: {reason}"))
            }
            ValueContent::Plain | ValueContent::Text => Ok(()),
        }
    }

    /// Takes the next word as a value.
    fn next(
        &mut self,
        known: &str,
        content: ValueContent,
        rest: &mut std::slice::Iter<'r, String>,
    ) -> Result<(), String> {
        let value = rest.next().ok_or_else(|| format!("`{known}` needs a value"))?;
        // If the program took it for an option after all, that option would be unchecked.
        if value.len() > 1 && value.starts_with('-') {
            return Err(format!("the value `{value}` of `{known}` looks like an option"));
        }
        match content {
            ValueContent::Text => Ok(()),
            ValueContent::Path => self.check_value(known, content, value),
            ValueContent::Plain => {
                (self.checks.revision)(value).map_err(|reason| format!("`{known}`: {reason}"))
            }
        }
    }

    fn check_operands(&self) -> Result<(), String> {
        let Checks { path, revision } = self.checks;
        let text_first = |options: &[&str]| !options.iter().any(|name| self.seen.contains(name));
        let all = |words: &[&String], check: super::CheckPath<'_>| {
            words.iter().try_for_each(|word| check(word))
        };
        match &self.grammar.operands {
            Operands::Texts => Ok(()),
            Operands::Nothing => match self.operands.first() {
                Some(word) => Err(format!("`sh:{}` does not cover `{word}`", self.program)),
                None => Ok(()),
            },
            Operands::Paths(most) if self.operands.len() > *most => {
                Err(format!("`sh:{}` covers at most {most} paths", self.program))
            }
            Operands::Paths(_) => all(&self.operands, path),
            Operands::TextThenPaths(options) => {
                all(&self.operands[self.operands.len().min(text_first(options).into())..], path)
            }
            Operands::TextThenRevisions(options) => {
                all(&self.operands[self.operands.len().min(text_first(options).into())..], revision)
            }
            Operands::Revisions => all(&self.operands, revision),
            Operands::Command(commands) => match self.operands.split_first() {
                None => Ok(()),
                Some((command, rest)) if commands.contains(&command.as_str()) => {
                    all(rest, revision)
                }
                Some((command, _)) => {
                    Err(format!("`sh:{}` does not cover the command `{command}`", self.program))
                }
            },
        }
    }
}
