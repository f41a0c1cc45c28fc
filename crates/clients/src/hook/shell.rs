//! The files that a shell command reads and writes, as touches.
//!
//! Everything that is not certain is ignored, because a wrong path would deliver wrong guidance:
//! [`brief_syntax::shell::effects`] says what a line plainly does.

mod effects;

use brief_dialects::Action;
use brief_syntax::shell::effects::{FileEffect, FileUse, collect_file_effects};
use brief_syntax::shell::parse_commands;

use super::{ToolEffect, Touch};

pub(crate) use effects::find_shell_effects;

/// The limit for the touches of one command line; more is a listing, not work on a file.
const MOST_TOUCHES: usize = 8;

/// Returns the paths that a command line plainly reads and writes, in order, each path and action once.
pub(super) fn collect_shell_touches(line: &str) -> Vec<Touch> {
    let mut found: Vec<Touch> = Vec::new();
    for touch in parse_commands(line).iter().flat_map(collect_file_effects).map(create_touch) {
        if found.len() < MOST_TOUCHES && !found.contains(&touch) {
            found.push(touch);
        }
    }
    found
}

fn create_touch(FileEffect { path, how, is_hidden }: FileEffect) -> Touch {
    let how = match how {
        FileUse::Read => ToolEffect::Does(Action::Read),
        FileUse::Edit | FileUse::Delete => ToolEffect::Does(Action::Edit),
        FileUse::Create => ToolEffect::Does(Action::Create),
        FileUse::Write => ToolEffect::Writes,
    };
    Touch { is_hidden, ..Touch::new(path, how) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Shows a touch as `r path`, `e path` or `w path`.
    fn shown(line: &str) -> Vec<String> {
        let letter = |how| match how {
            ToolEffect::Does(Action::Read) => 'r',
            ToolEffect::Does(_) => 'e',
            ToolEffect::Writes => 'w',
            ToolEffect::Unknown => '?',
        };
        collect_shell_touches(line)
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
            ("timeout -k 1 5s nice -n 5 cat f", &["r f"]),
            ("sudo -u x env -i A=1 cat f", &["r f"]),
            ("env -C d cat f", &["r d/f"]),
            ("bash <<'E'\ncat f\nE", &["r f"]),
            ("x \"$(cat f)\"; for i in 1; do cat $i g; done", &["r f", "r g"]),
            ("git commit -m \"$(cat <<'E'\nIt's > x\nE\n)\" && cat f", &["r f"]),
            ("cat \"a\\$b\" c~ d@{1}", &["r a$b", "r c~"]),
            ("case $x in a) cat f;; esac; (cd $x); cat g", &["r f", "r g"]),
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

    /// L14: a patch names its files, in the text that a command is given.
    #[test]
    fn files_of_a_patch_are_found() {
        let one = "--- a/src/x.py\n+++ b/src/x.py\n@@ -1,2 +1,2 @@\n--- a/no\n+++ b/no\n y = 2\n";
        let new = "--- /dev/null\n+++ b/n.py\n@@ -0,0 +1 @@\n+x\n";
        for (line, expected) in [
            (format!("git apply <<'EOF'\n{one}EOF"), &["e src/x.py"][..]),
            (
                format!("git apply -p1 - <<'EOF'\n{one}{new}EOF\ncat f"),
                &["e src/x.py", "e n.py", "r f"],
            ),
            (format!("git apply <<'EOF' && cat f\n{one}EOF"), &["e src/x.py", "r f"]),
            (format!("cd d && patch -p1 <<EOF\n{one}EOF"), &["e d/src/x.py"]),
            (format!("patch -p2 <<EOF\n{one}EOF"), &["e x.py"]),
            (format!("git apply -R <<'EOF'\n{new}EOF"), &["e n.py"]),
            (
                "patch <<EOF\n--- x.py\t2026-01-01\n+++ x.py\t2026-01-02\n@@ -1 +1 @@\n-a\n+b\nEOF"
                    .to_owned(),
                &["e x.py"],
            ),
            ("patch f.py <<EOF\n@@ -1 +1 @@\n-a\n+b\nEOF".to_owned(), &["e f.py"]),
            ("git apply <<EOF\nrename from a\nrename to b\nEOF".to_owned(), &["e a", "e b"]),
        ] {
            assert_eq!(shown(&line), expected, "{line}");
        }
        for line in [
            format!("git apply --check <<'EOF'\n{one}EOF"),
            format!("git apply --directory=d <<'EOF'\n{one}EOF"),
            format!("git apply -p9 <<'EOF'\n{one}EOF"),
            format!("patch --dry-run -p1 <<'EOF'\n{one}EOF"),
            format!("patch -d d -p1 <<'EOF'\n{one}EOF"),
            "git apply x.patch".to_owned(),
            "patch -p1 -i x.patch".to_owned(),
        ] {
            assert_eq!(shown(&line), [""; 0], "{line}");
        }
    }

    /// L14: a Python program names its files where they are literals.
    #[test]
    fn files_of_a_python_program_are_found() {
        for (line, expected) in [
            ("python3 - <<'EOF'\nopen('a.py', 'w').write('x')\nEOF", &["w a.py"][..]),
            ("python <<EOF\nwith open(\"a.py\") as file: print(file)\nEOF", &["r a.py"]),
            ("python3 -c \"open('a.py', mode='a').write('x')\"", &["w a.py"]),
            (
                "python3.12 - <<E\nfrom pathlib import Path\nPath('d/a.py').write_text('x')\nE",
                &["w d/a.py"],
            ),
            (
                "cd d; python3 <<E\np = 'a.py'\ns = open(p).read()\nopen(p, 'w').write(s)\nE",
                &["r d/a.py", "w d/a.py"],
            ),
            (
                "python3 <<E\nimport pathlib\np = pathlib.Path('a.py')\np.write_text(p.read_text())\nE",
                &["w a.py", "r a.py"],
            ),
            ("python3 <<E\nimport os\nos.remove('a.py')\nE", &["e a.py"]),
            ("python3 <<< \"open('a.py')\"", &["r a.py"]),
        ] {
            assert_eq!(shown(line), expected, "{line}");
        }
        for line in [
            "python3 f.py <<E\nopen('a.py')\nE",
            "python3 -m m <<E\nopen('a.py')\nE",
            "python3 <<E\nimport os\nos.chdir('d')\nopen('a.py')\nE",
            "python3 <<E\nopen(f'{x}.py')\nopen(x)\nopen('a' + b)\nE",
            "python3 <<E\np = 'a.py'\np = other()\nopen(p)\nE",
            "python3 <<E\n# open('a.py')\ns = \"open('a.py')\"\nE",
            "python3 <<E\ngzip.open('a.gz')\nopen('a.py', mode)\nE",
        ] {
            assert_eq!(shown(line), [""; 0], "{line}");
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
            "npx cat f",
            "sudo -i cat f",
            "command -v cat",
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
            assert!(collect_shell_touches(&text).len() <= MOST_TOUCHES);
            Ok(())
        });
        let nested = "bash -c '".repeat(1_000);
        assert!(collect_shell_touches(&nested).is_empty());
        assert!(collect_shell_touches(&"(".repeat(100_000)).is_empty());
        arbtest::arbtest(|bytes| {
            let text: String = bytes.arbitrary()?;
            for program in ["python3", "git apply", "patch -p1"] {
                collect_shell_touches(&format!("{program} <<'EOF'\n{text}\nEOF"));
            }
            Ok(())
        });
    }
}
