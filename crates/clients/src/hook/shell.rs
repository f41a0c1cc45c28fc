//! Which files a shell command shows: `cat`, `head` and `tail`.
//!
//! This is a reader, not a shell. Whatever it does not understand (variables, substitutions,
//! here-documents, patterns) it leaves out, because a wrong path would deliver wrong guidance.

use std::path::{Path, PathBuf};

/// Files taken from one command line; more is a listing, not reading.
const MOST_FILES: usize = 8;

/// Returns the files that a command line prints, in order.
pub(super) fn files_shown(command: &str) -> Vec<String> {
    let mut files = Vec::new();
    // Where the shell is by now; `None` when that is not certain.
    let mut place = Some(PathBuf::new());
    // What happens in parentheses stays there, and this reader does not follow it.
    let has_groups = command.contains('(');
    for words in commands(command) {
        let mut words = words.into_iter();
        let takes_values = match words.next() {
            Some(Word::Plain(program)) => match program.rsplit('/').next() {
                Some("cat") => "",
                Some("head" | "tail") => "nc",
                Some("cd") => {
                    place = match words.next() {
                        Some(Word::Plain(to)) if !has_groups && !to.starts_with('-') => {
                            place.map(|place| place.join(to))
                        }
                        _ => None,
                    };
                    continue;
                }
                _ => continue,
            },
            _ => continue,
        };
        let mut show = |file: String| match &place {
            Some(place) => files.push(place.join(file).to_string_lossy().into_owned()),
            None if Path::new(&file).is_absolute() => files.push(file),
            None => {}
        };
        let mut options_ended = false;
        while let Some(word) = words.next() {
            match word {
                Word::Redirect => {
                    words.next();
                }
                Word::Unclear => {}
                Word::Plain(word) if options_ended || !word.starts_with('-') => show(word),
                Word::Plain(word) if word == "--" => options_ended = true,
                // `-n 5` takes the next word, `-n5` and `-5` do not.
                Word::Plain(option) => {
                    let letter = option.strip_prefix('-').unwrap_or_default();
                    if letter.len() == 1 && takes_values.contains(letter) {
                        words.next();
                    }
                }
            }
        }
    }
    files.truncate(MOST_FILES);
    files
}

enum Word {
    /// A word whose text is certain.
    Plain(String),
    /// A word that a shell would expand to something we do not know.
    Unclear,
    /// `>`, `>>`, `2>`: the next word is a target, not an input.
    Redirect,
}

/// Splits a command line into simple commands, and those into words.
fn commands(line: &str) -> Vec<Vec<Word>> {
    let mut commands = vec![Vec::new()];
    let mut characters = line.chars().peekable();
    while let Some(&first) = characters.peek() {
        match first {
            ' ' | '\t' => {
                characters.next();
            }
            '\n' | ';' | '|' | '&' | '(' | ')' => {
                characters.next();
                commands.push(Vec::new());
            }
            '#' => while characters.next_if(|&character| character != '\n').is_some() {},
            '<' => {
                characters.next();
                // A here-document: what follows is text, not commands.
                if characters.next_if_eq(&'<').is_some() {
                    break;
                }
            }
            '>' => {
                while characters.next_if(|character| matches!(character, '>' | '&' | '|')).is_some()
                {
                }
                if let Some(command) = commands.last_mut() {
                    command.push(Word::Redirect);
                }
            }
            _ => {
                let word = word(&mut characters);
                // `2>file`: the number belongs to the redirection.
                let is_descriptor = matches!(&word, Word::Plain(text) if text.bytes().all(|byte| byte.is_ascii_digit()))
                    && characters.peek() == Some(&'>');
                if !is_descriptor && let Some(command) = commands.last_mut() {
                    command.push(word);
                }
            }
        }
    }
    commands
}

fn word(characters: &mut std::iter::Peekable<std::str::Chars<'_>>) -> Word {
    let mut text = String::new();
    let mut unclear = false;
    while let Some(&character) = characters.peek() {
        match character {
            ' ' | '\t' | '\n' | ';' | '|' | '&' | '(' | ')' | '<' | '>' => break,
            '\'' => {
                characters.next();
                let mut closed = false;
                for character in characters.by_ref() {
                    if character == '\'' {
                        closed = true;
                        break;
                    }
                    text.push(character);
                }
                unclear |= !closed;
            }
            '"' => {
                characters.next();
                let mut closed = false;
                while let Some(character) = characters.next() {
                    match character {
                        '"' => {
                            closed = true;
                            break;
                        }
                        '\\' => text.extend(characters.next()),
                        '$' | '`' => unclear = true,
                        _ => text.push(character),
                    }
                }
                unclear |= !closed;
            }
            '\\' => {
                characters.next();
                text.extend(characters.next());
            }
            '$' | '`' | '*' | '?' | '[' | '{' | '~' => {
                unclear = true;
                characters.next();
            }
            _ => {
                text.push(character);
                characters.next();
            }
        }
    }
    if unclear { Word::Unclear } else { Word::Plain(text) }
}

#[cfg(test)]
mod tests {
    use super::files_shown;

    #[test]
    fn files_that_are_printed_are_found() {
        for (command, expected) in [
            ("cat f.py", vec!["f.py"]),
            ("cat -n src/a.py | grep x", vec!["src/a.py"]),
            ("head -n 5 a b", vec!["a", "b"]),
            ("head -5 a", vec!["a"]),
            ("tail -c10 a", vec!["a"]),
            ("tail -f -- -odd", vec!["-odd"]),
            ("cat 'a b.py' \"c d.py\" e\\ f", vec!["a b.py", "c d.py", "e f"]),
            ("ls && cat f; /bin/cat g", vec!["f", "g"]),
            ("cd x && cat f; cd y && cat g /h", vec!["x/f", "x/y/g", "/h"]),
            ("cd /x && cat f", vec!["/x/f"]),
            ("cd \"$x\" && cat f /g", vec!["/g"]),
            ("cat a > b", vec!["a"]),
            ("cat a 2>/dev/null", vec!["a"]),
            ("cat < in.txt", vec!["in.txt"]),
        ] {
            assert_eq!(files_shown(command), expected, "{command}");
        }
    }

    #[test]
    fn what_is_not_certain_is_left_out() {
        for command in [
            "",
            "ls",
            "cat",
            "cat $HOME/x",
            "cat *.py",
            "cat `x`",
            "cat <<EOF > f\ncat no\nEOF",
            "echo 'cat x'",
            "cat \"unclosed",
            "concatenate x",
            "cat ~/x",
            "# cat x",
            "cd - && cat x",
            "cd && cat x",
            "(cd x && true); cat y",
        ] {
            assert_eq!(files_shown(command), [""; 0], "{command}");
        }
    }

    #[test]
    fn any_text_ends() {
        arbtest::arbtest(|bytes| {
            let text: String = bytes.arbitrary()?;
            assert!(files_shown(&text).len() <= super::MOST_FILES);
            Ok(())
        });
    }
}
