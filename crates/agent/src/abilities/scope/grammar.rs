//! A grammar of a program's options, and the check of arguments against it.

use super::Checks;

/// The allowed arguments of one program, or of one command of a program.
pub(super) struct Grammar {
    /// The options, separated by blanks. `-a` has no value, `-a=` has one, which may be the next word, and
    /// `-a[]` may have one in the same word. `=@` is the path of a file, `=*` any text. `-#` is a number.
    /// Long options have the same forms.
    pub(super) options: &'static [&'static str],
    /// The allowed operands.
    pub(super) operands: Operands,
    /// Options that are put before all others.
    pub(super) added: &'static [&'static str],
    /// Options of which at least one is required, if any.
    pub(super) one_of: &'static [&'static str],
}

/// The allowed operands.
#[derive(Clone, Copy)]
pub(super) enum Operands {
    /// No operands.
    Nothing,
    /// Paths in the project, up to this number.
    Paths(usize),
    /// A text, then paths; only paths with one of these options.
    TextThenPaths(&'static [&'static str]),
    /// A text, then revisions and paths; only those with one of these options.
    TextThenRevisions(&'static [&'static str]),
    /// Any texts.
    Texts,
    /// Revisions and paths.
    Revisions,
    /// One of these words, then revisions and paths; or no operands.
    Command(&'static [&'static str]),
}

/// The value of an option.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OptionValue {
    None,
    /// In the same word or the next one.
    Required(ValueContent),
    /// In the same word.
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
    pub(super) const fn new(options: &'static [&'static str], operands: Operands) -> Grammar {
        Grammar { options, operands, added: &[], one_of: &[] }
    }

    pub(super) const fn adding(self, added: &'static [&'static str]) -> Grammar {
        Grammar { added, ..self }
    }

    pub(super) const fn with_one_of(self, one_of: &'static [&'static str]) -> Grammar {
        Grammar { one_of, ..self }
    }

    /// Returns the arguments to start the program with. The error is a reason.
    pub(super) fn words(
        &self,
        program: &str,
        args: &[String],
        checks: Checks<'_>,
    ) -> Result<Vec<String>, String> {
        let mut reading = ArgumentReader {
            grammar: self,
            program,
            checks,
            seen: Vec::new(),
            operands: Vec::new(),
        };
        let mut rest = args.iter();
        while let Some(word) = rest.next() {
            if word == "--" {
                reading.operands.extend(rest.by_ref());
            } else if let Some(long) = word.strip_prefix("--") {
                reading.long(long, &mut rest)?;
            } else if word.len() > 1 && word.starts_with('-') {
                reading.short(word, &mut rest)?;
            } else {
                reading.operands.push(word);
            }
        }
        reading.check_operands()?;
        let has_one = |names: &[&str]| names.iter().any(|name| reading.seen.contains(name));
        if !self.one_of.is_empty() && !has_one(self.one_of) {
            let names = self.one_of.join("`, `");
            return Err(format!("one of `{names}` is required, as a separate word or with `-`"));
        }
        let added = self.added.iter().map(|word| (*word).to_owned());
        Ok(added.chain(args.iter().cloned()).collect())
    }

    /// Finds an option by its whole name.
    fn find(&self, name: &str) -> Option<(&'static str, OptionValue)> {
        let mut all = self.options.iter().flat_map(|list| list.split_ascii_whitespace());
        all.find_map(|entry| {
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

/// Arguments during their check against a grammar.
struct ArgumentReader<'r> {
    grammar: &'r Grammar,
    program: &'r str,
    checks: Checks<'r>,
    /// The options so far.
    seen: Vec<&'static str>,
    operands: Vec<&'r String>,
}

impl<'r> ArgumentReader<'r> {
    fn long(&mut self, word: &str, rest: &mut std::slice::Iter<'r, String>) -> Result<(), String> {
        let (name, glued) = match word.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (word, None),
        };
        let (known, value) = self.known(&format!("--{name}"))?;
        self.seen.push(known);
        match (value, glued) {
            (OptionValue::None, None) | (OptionValue::Optional, _) => Ok(()),
            (OptionValue::None, Some(_)) => Err(format!("`{known}` has no value")),
            (OptionValue::Required(content), Some(value)) => self.glued(known, content, value),
            (OptionValue::Required(content), None) => self.next(known, content, rest),
        }
    }

    /// Parses short options in one word.
    fn short(&mut self, word: &str, rest: &mut std::slice::Iter<'r, String>) -> Result<(), String> {
        let letters = word.get(1..).unwrap_or_default();
        if letters.bytes().all(|letter| letter.is_ascii_digit()) {
            return self.known("-#").map(|(known, _)| self.seen.push(known)).map_err(|_| {
                format!("`{word}` is not among the options that `sh:{}` covers", self.program)
            });
        }
        // Some programs have options of several letters after one `-`.
        for (at, letter) in letters.char_indices() {
            let (known, value) = self.known(&format!("-{letter}"))?;
            self.seen.push(known);
            let glued = letters.get(at + letter.len_utf8()..).unwrap_or_default();
            match value {
                OptionValue::None => {}
                OptionValue::Optional => return Ok(()),
                OptionValue::Required(content) if glued.is_empty() => {
                    return self.next(known, content, rest);
                }
                OptionValue::Required(content) => return self.glued(known, content, glued),
            }
        }
        Ok(())
    }

    fn known(&self, name: &str) -> Result<(&'static str, OptionValue), String> {
        self.grammar.find(name).ok_or_else(|| {
            let program = self.program;
            format!("`{name}` is not among the options that `sh:{program}` covers, in full length")
        })
    }

    fn glued(&self, known: &str, content: ValueContent, value: &str) -> Result<(), String> {
        match content {
            ValueContent::Path => {
                (self.checks.path)(value).map_err(|reason| format!("`{known}`: {reason}"))
            }
            ValueContent::Plain | ValueContent::Text => Ok(()),
        }
    }

    /// Takes the next word as a value.
    fn next(
        &self,
        known: &str,
        content: ValueContent,
        rest: &mut std::slice::Iter<'r, String>,
    ) -> Result<(), String> {
        let value = rest.next().ok_or_else(|| format!("`{known}` has no value"))?;
        // If the program took it for an option after all, that option would be unchecked.
        if value.len() > 1 && value.starts_with('-') {
            return Err(format!("the value `{value}` of `{known}` looks like an option"));
        }
        match content {
            ValueContent::Text => Ok(()),
            ValueContent::Path => self.glued(known, content, value),
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
        match self.grammar.operands {
            Operands::Texts => Ok(()),
            Operands::Nothing => match self.operands.first() {
                Some(word) => Err(format!("`{word}` is not covered by `sh:{}`", self.program)),
                None => Ok(()),
            },
            Operands::Paths(most) if self.operands.len() > most => {
                Err(format!("more than {most} paths are not covered by `sh:{}`", self.program))
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
                Some((command, _)) => Err(format!(
                    "`{command}` is not among the commands that `sh:{}` covers",
                    self.program
                )),
            },
        }
    }
}
