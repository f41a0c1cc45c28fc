//! Programs that only read, with the options that start no program and name no file outside the project.

use std::sync::LazyLock;

use super::Checks;
use super::grammar::Grammar;

static PROGRAMS: LazyLock<Vec<Grammar>> =
    LazyLock::new(|| Grammar::read_table(include_str!("programs.txt")));

/// Words of `find` without a value.
const FIND_ALONE: &str = "-print -print0 -ls -empty -prune -not -a -and -o -or -true -false -daystart \
    -depth -d -xdev -mount -readable -writable -executable -nouser -nogroup -quit -noleaf ! ( ) ,";

/// Words of `find` with a value.
const FIND_WITH_TEXT: &str = "-name -iname -path -ipath -wholename -regex -iregex -regextype -type \
    -xtype -maxdepth -mindepth -size -mtime -atime -ctime -mmin -amin -cmin -perm -user -group -uid -gid \
    -links -inum -newermt -printf";

/// Returns the grammar of a program.
pub(super) fn find_grammar(name: &str) -> Option<&'static Grammar> {
    PROGRAMS.iter().find(|grammar| grammar.name == name)
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
            expression.next().ok_or_else(|| format!("`{word}` needs a value"))?;
        } else if !has(FIND_ALONE, word) {
            return Err(format!("`sh:find` does not cover `{word}`"));
        }
    }
    Ok(args.to_vec())
}
