//! Finds the files that a shell command reads and writes, as far as its text shows.
//!
//! This is a reader, not a shell. Everything that it does not understand (variables, substitutions, patterns,
//! unknown programs) is ignored, because a wrong path would deliver wrong guidance. [`words`] splits a line
//! into commands, [`programs`] knows the effect of a program on its operands.

mod programs;
mod words;

use std::path::{Path, PathBuf};

use super::{ToolEffect, Touch};
use words::{LinePart, ShellCommand, ShellWord};

/// The limit for the touches of one command line; more is a listing, not work on a file.
const MOST_TOUCHES: usize = 8;

/// The limit for nested command lines (`bash -c '…'`).
const MOST_NESTED: usize = 3;

/// Returns the paths that a command line plainly reads and writes, in order, each path and action once.
pub(super) fn touches(line: &str) -> Vec<Touch> {
    let mut reader =
        ShellReader { place: Some(PathBuf::new()), outer: Vec::new(), found: Vec::new() };
    reader.read(line, MOST_NESTED);
    reader.found
}

struct ShellReader {
    /// The current directory of the shell, relative to its start; `None` when it is uncertain.
    place: Option<PathBuf>,
    /// The directories of the shells around a group in parentheses.
    outer: Vec<Option<PathBuf>>,
    found: Vec<Touch>,
}

impl ShellReader {
    fn read(&mut self, line: &str, nested: usize) {
        for step in words::split(line) {
            match step {
                LinePart::Open => self.outer.push(self.place.clone()),
                // An unmatched parenthesis belongs to syntax that this reader does not know.
                LinePart::Close => self.place = self.outer.pop().flatten(),
                LinePart::Command(command) => self.run(&command, nested),
            }
        }
    }

    fn run(&mut self, command: &ShellCommand, nested: usize) {
        let words = programs::without_prefixes(&command.words);
        if let Some((ShellWord::Plain(program), operands)) = words.split_first() {
            let program = program.rsplit('/').next().unwrap_or(program);
            match program {
                "cd" | "pushd" => self.change_directory(operands),
                "popd" => self.place = None,
                "bash" | "sh" | "zsh" | "dash" => {
                    if let Some(line) = programs::inner_line(operands)
                        && nested > 0
                    {
                        let (place, outer) = (self.place.clone(), std::mem::take(&mut self.outer));
                        self.read(line, nested - 1);
                        (self.place, self.outer) = (place, outer);
                    }
                }
                _ => {
                    for (path, how) in programs::touches(program, operands, command.is_piped_into) {
                        self.touch(&path, how);
                    }
                }
            }
        }
        for (effect, word) in &command.redirects {
            if let ShellWord::Plain(path) = word {
                self.touch(path, *effect);
            }
        }
    }

    fn change_directory(&mut self, operands: &[ShellWord]) {
        self.place = match operands {
            [ShellWord::Plain(to)] if !to.starts_with('-') => match &self.place {
                Some(place) => Some(place.join(to)),
                None => Path::new(to).is_absolute().then(|| PathBuf::from(to)),
            },
            _ => None,
        };
    }

    fn touch(&mut self, path: &str, how: ToolEffect) {
        if path.is_empty() || path == "-" || path.starts_with("/dev/") {
            return;
        }
        let path = match &self.place {
            Some(place) => place.join(path),
            None if Path::new(path).is_absolute() => PathBuf::from(path),
            None => return,
        };
        let touch = Touch::new(path, how);
        if self.found.len() < MOST_TOUCHES && !self.found.contains(&touch) {
            self.found.push(touch);
        }
    }
}

#[cfg(test)]
mod tests {
    use brief_dialects::Action;

    use super::*;

    /// Shows a touch as `r path`, `e path` or `w path`.
    fn shown(line: &str) -> Vec<String> {
        let letter = |how| match how {
            ToolEffect::Does(Action::Read) => 'r',
            ToolEffect::Does(_) => 'e',
            ToolEffect::Writes => 'w',
            ToolEffect::Unknown => '?',
        };
        touches(line)
            .iter()
            .map(|touch| format!("{} {}", letter(touch.how), touch.path.display()))
            .collect()
    }

    #[test]
    fn files_that_are_read_are_found() {
        for (line, expected) in [
            ("cat f.py", &["r f.py"][..]),
            ("cat -n src/a.py | grep x", &["r src/a.py"]),
            ("head -n 5 a b", &["r a", "r b"]),
            ("head -5 a", &["r a"]),
            ("tail -c10 a", &["r a"]),
            ("tail -f -- -odd", &["r -odd"]),
            ("nl -ba f", &["r f"]),
            ("wc -l f", &["r f"]),
            ("diff -u a b", &["r a", "r b"]),
            ("cat 'a b.py' \"c d.py\" e\\ f", &["r a b.py", "r c d.py", "r e f"]),
            ("true && cat f; /bin/cat g", &["r f", "r g"]),
            ("cd x && cat f; cd y && cat g /h", &["r x/f", "r x/y/g", "r /h"]),
            ("cd /x && cat f", &["r /x/f"]),
            ("cd \"$x\" && cat f /g", &["r /g"]),
            ("(cd x && cat f); cat y", &["r x/f", "r y"]),
            ("cat a 2>/dev/null", &["r a"]),
            ("cat a 2>&1 | head -3", &["r a"]),
            ("cat < in.txt", &["r in.txt"]),
            ("A=1 sudo cat f", &["r f"]),
            ("if cat f; then head g; fi", &["r f", "r g"]),
            ("bash -lc 'cd src && cat b.py'; cat c", &["r src/b.py", "r c"]),
            ("timeout 5 cat f", &["r f"]),
        ] {
            assert_eq!(shown(line), expected, "{line}");
        }
    }

    /// K06: "of `cat`, `grep -n x f`, `sed -n 1,5p f`, `rg x d`, `nl`, `ls` … only `cat` delivers".
    #[test]
    fn searches_and_listings_are_reads() {
        for (line, expected) in [
            ("grep -n x f", &["r f"][..]),
            ("grep -rn -A 3 x src lib", &["r src", "r lib"]),
            ("grep -e x -e y f", &["r f"]),
            ("grep --include=*.py -r x", &["r ."]),
            ("grep x < f", &["r f"]),
            ("rg x d", &["r d"]),
            ("rg -g '*.py' -n x src/api", &["r src/api"]),
            ("rg --type py x", &["r ."]),
            ("rg --files src", &["r src"]),
            ("cat f | rg x", &["r f"]),
            ("sed -n 1,5p f", &["r f"]),
            ("sed -n -e 1p -e 5p f g", &["r f", "r g"]),
            ("awk -F: '{print $1}' f", &["r f"]),
            ("ls", &["r ."]),
            ("ls -la src", &["r src"]),
            ("tree -L 2 src", &["r src"]),
            ("find src -name '*.py' -type f", &["r src"]),
        ] {
            assert_eq!(shown(line), expected, "{line}");
        }
    }

    /// K06: "`cat > f <<E`, `sed -i`, `tee`".
    #[test]
    fn files_that_are_written_are_found() {
        for (line, expected) in [
            ("cat > f <<E\ncat no\nE\ncat g", &["w f", "r g"][..]),
            ("cat <<'EOF' >> src/a.py\ntext > no\nEOF", &["w src/a.py"]),
            ("cat <<-E > f\n\tcat no\n\tE\nls d", &["w f", "r d"]),
            ("echo x > f", &["w f"]),
            ("printf x >| f", &["w f"]),
            ("make &> out.log", &["w out.log"]),
            ("sed -i s/a/b/ f", &["e f"]),
            ("sed -i.bak -e s/a/b/ f g", &["e f", "e g"]),
            ("sed --in-place 's/a/b/' f", &["e f"]),
            ("sed -i '' s/a/b/ f", &["e f"]),
            ("perl -pi -e 's/a/b/' f", &["e f"]),
            ("echo x | tee -a f", &["w f"]),
            ("cat a > b", &["r a", "w b"]),
            ("touch f", &["w f"]),
            ("rm -f f", &["e f"]),
            ("cp a b", &["r a", "w b"]),
            ("cp a b d/", &["r a", "w d/a", "r b", "w d/b"]),
            ("mv a/x.py b/", &["e a/x.py", "w b/x.py"]),
            ("git mv a b", &["e a", "w b"]),
            ("git rm f", &["e f"]),
        ] {
            assert_eq!(shown(line), expected, "{line}");
        }
    }

    #[test]
    fn what_is_not_certain_is_no_touch() {
        for line in [
            "",
            "cat",
            "cat $HOME/x",
            "cat *.py",
            "cat `x`",
            "cat $(ls)x",
            "echo 'cat x'",
            "cat \"unclosed",
            "concatenate x",
            "cat ~/x",
            "# cat x",
            "cd - && cat x",
            "cd && cat x",
            "popd; cat x",
            "cat <<< text",
            "echo x >&2",
            "git log -- f",
            "python f.py",
            "mv -t d a",
            "xargs cat f",
            "perl -e 'print 1' f",
            "grep x",
            "bash script.sh",
        ] {
            // `$(ls)` runs a listing, which does not determine the word that it expands to.
            let found: Vec<_> = shown(line).into_iter().filter(|touch| touch != "r .").collect();
            assert_eq!(found, [""; 0], "{line}");
        }
    }

    #[test]
    fn any_text_ends() {
        arbtest::arbtest(|bytes| {
            let text: String = bytes.arbitrary()?;
            assert!(touches(&text).len() <= MOST_TOUCHES);
            Ok(())
        });
        let nested = "bash -c '".repeat(1_000);
        assert!(touches(&nested).is_empty());
        assert!(touches(&"(".repeat(100_000)).is_empty());
    }
}
