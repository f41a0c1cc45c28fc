//! Programs that only read, with the options that start no program and name no file outside the project.

use super::Checks;
use super::grammar::{Grammar, Operands};

const ANY: usize = usize::MAX;

static PROGRAMS: [(&str, Grammar); 25] = [
    ("basename", Grammar::new(&["-a -s= -z"], Operands::Texts)),
    ("cat", Grammar::new(&["-A -b -e -E -n -s -t -T -u -v --number"], Operands::Paths(ANY))),
    (
        "comm",
        Grammar::new(&["-1 -2 -3 -# -i --check-order --nocheck-order --total"], Operands::Paths(2)),
    ),
    (
        "cut",
        Grammar::new(
            &["-b= -c= -d=* -f= -n -s -z --complement --output-delimiter=* --delimiter=* --fields="],
            Operands::Paths(ANY),
        ),
    ),
    (
        "diff",
        Grammar::new(
            &["-u -U= -c -r -N -q -s -y -i -w -b -B -a -E -Z --unified[] --brief --recursive --new-file \
               --no-dereference --color[] --minimal --width= -W= --suppress-common-lines"],
            Operands::Paths(2),
        ),
    ),
    ("dirname", Grammar::new(&["-z"], Operands::Texts)),
    ("du", Grammar::new(&["-a -b -c -d= -h -k -m -s -x --max-depth= --apparent-size"], Operands::Paths(ANY))),
    ("echo", Grammar::new(&["-n -e -E"], Operands::Texts)),
    ("false", Grammar::new(&[], Operands::Texts)),
    (
        "fd",
        Grammar::new(
            &["-H --hidden -I --no-ignore -s --case-sensitive -i --ignore-case -g --glob -F \
               --fixed-strings -a --absolute-path -p --full-path -d= --max-depth= --min-depth= -e= \
               --extension= -t= --type= -E= --exclude= -S= --size= -0 --print0 -1 --max-results= -# \
               --changed-within= --changed-before= --color="],
            Operands::TextThenPaths(&[]),
        ),
    ),
    ("file", Grammar::new(&["-b -i -h -E -k -N -r --brief --mime --mime-type"], Operands::Paths(ANY))),
    (
        "grep",
        Grammar::new(
            &["-r -n -i -y -v -l -L -c -o -w -x -E -F -G -P -H -h -s -q -a -I -z -Z -b -U -T -# -A= -B= -C= \
               -m= -e=* --recursive --line-number --ignore-case --invert-match --files-with-matches \
               --files-without-match --count --only-matching --word-regexp --line-regexp \
               --extended-regexp --fixed-strings --perl-regexp --regexp=* --include=* --exclude=* \
               --exclude-dir=* --max-count= --after-context= --before-context= --context= --color[] \
               --colour[] --no-messages --quiet --text --with-filename --no-filename"],
            Operands::TextThenPaths(&["-e", "--regexp"]),
        ),
    ),
    ("head", Grammar::new(&["-n= -c= -q -v -z -# --lines= --bytes= --quiet"], Operands::Paths(ANY))),
    (
        "ls",
        Grammar::new(
            &["-1 -# -a -A -b -B -c -C -d -f -F -g -G -h -i -k -l -m -n -N -o -p -q -Q -r -R -s -S -t -T= -u \
               -U -v -w= -x -X -Z --all --almost-all --color[] --directory --full-time --human-readable \
               --inode --recursive --reverse --size --sort= --time= --time-style= --format= --classify[] \
               --group-directories-first"],
            Operands::Paths(ANY),
        ),
    ),
    ("printf", Grammar::new(&[], Operands::Texts)),
    ("pwd", Grammar::new(&["-L -P"], Operands::Nothing)),
    (
        "rg",
        Grammar::new(
            &["-n -N -i -s -S -v -l -c -o -w -x -F -H -I -q -u -. -0 -U -P -p -# -A= -B= -C= -m= -e=* -g=* -t= \
               -T= -d= -r=* --line-number --no-line-number --ignore-case --case-sensitive --smart-case \
               --invert-match --files-with-matches --files-without-match --count --count-matches \
               --only-matching --word-regexp --line-regexp --fixed-strings --with-filename --no-filename \
               --quiet --hidden --no-ignore --unrestricted --null --multiline --pcre2 --after-context= \
               --before-context= --context= --max-count= --regexp=* --glob=* --iglob=* --type= \
               --type-not= --type-list --max-depth= --max-filesize= --replace=* --json --stats --trim \
               --vimgrep --column --heading --no-heading --color= --sort= --files --no-messages --passthru"],
            Operands::TextThenPaths(&["-e", "--regexp", "--files", "--type-list"]),
        )
        .adding(&["--no-config"]),
    ),
    // The option makes it refuse script commands that run programs or access files.
    (
        "sed",
        Grammar::new(
            &["-n -e=* -E -r -s -z -u -l= --quiet --silent --expression=* --regexp-extended --separate \
               --null-data --unbuffered --line-length= --posix --debug"],
            Operands::TextThenPaths(&["-e", "--expression"]),
        )
        .adding(&["--sandbox"]),
    ),
    (
        "sort",
        Grammar::new(
            &["-b -d -f -g -h -i -M -n -R -r -s -u -V -z -c -C -m -k= -t=* --key= --field-separator=* \
               --numeric-sort --human-numeric-sort --version-sort --reverse --unique --stable \
               --ignore-case --zero-terminated --check[]"],
            Operands::Paths(ANY),
        ),
    ),
    ("stat", Grammar::new(&["-c=* -f -t --format=* --printf=* --terse"], Operands::Paths(ANY))),
    ("tail", Grammar::new(&["-n= -c= -q -v -z -# --lines= --bytes= --quiet"], Operands::Paths(ANY))),
    // Extraction writes through links in the project, so only output to standard output is allowed.
    (
        "tar",
        Grammar::new(
            &["-t -c -v -z -j -J -a -O -f=@ -C=@ --list --create --verbose --gzip --gunzip --bzip2 --xz --zstd \
               --to-stdout --file=@ --directory=@ --exclude=* --exclude-vcs --strip-components= \
               --auto-compress --numeric-owner --sort= --mtime=* --owner= --group= --mode="],
            Operands::Paths(ANY),
        )
        .adding(&["--force-local"])
        .with_one_of(&["-t", "--list", "-c", "--create", "-O", "--to-stdout"]),
    ),
    ("true", Grammar::new(&[], Operands::Texts)),
    // A second path would be written to.
    (
        "uniq",
        Grammar::new(&["-c -d -D -i -u -z -f= -s= -w= --count --repeated --unique"], Operands::Paths(1)),
    ),
    ("wc", Grammar::new(&["-c -m -l -L -w --bytes --chars --lines --words --max-line-length"], Operands::Paths(ANY))),
];

/// Words of `find` without a value.
const FIND_ALONE: &str = "-print -print0 -ls -empty -prune -not -a -and -o -or -true -false -daystart \
    -depth -d -xdev -mount -readable -writable -executable -nouser -nogroup -quit -noleaf ! ( ) ,";

/// Words of `find` with a value.
const FIND_WITH_TEXT: &str = "-name -iname -path -ipath -wholename -regex -iregex -regextype -type \
    -xtype -maxdepth -mindepth -size -mtime -atime -ctime -mmin -amin -cmin -perm -user -group -uid -gid \
    -links -inum -newermt -printf";

/// Returns the grammar of a program.
pub(super) fn grammar(name: &str) -> Option<&'static Grammar> {
    PROGRAMS.iter().find(|(known, _)| *known == name).map(|(_, grammar)| grammar)
}

/// Returns the arguments to start `find` with, which has a language of its own: paths, then an expression.
pub(super) fn find_words(args: &[String], checks: Checks<'_>) -> Result<Vec<String>, String> {
    let has = |list: &str, word: &str| list.split_ascii_whitespace().any(|known| known == word);
    let is_path = |word: &&String| !word.starts_with(['-', '(', ')', '!', ',']);
    let paths = args.iter().take_while(is_path).count();
    let (paths, expression) = args.split_at(paths);
    paths.iter().try_for_each(|path| (checks.path)(path))?;
    let mut expression = expression.iter();
    while let Some(word) = expression.next() {
        if has(FIND_WITH_TEXT, word) {
            expression.next().ok_or_else(|| format!("`{word}` has no value"))?;
        } else if !has(FIND_ALONE, word) {
            return Err(format!("`{word}` is not among the words that `sh:find` covers"));
        }
    }
    Ok(args.to_vec())
}
