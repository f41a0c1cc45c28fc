//! Globs, by example: what doublestar answers, what directories can contain, what is refused.

use brief_syntax::glob::{
    Alternatives, Glob, GlobOptions, GlobProblem, LetterCase, MAX_PATTERN_BYTES,
    covers_everything_inside,
};

fn glob(pattern: &str) -> Glob {
    Glob::new(pattern).unwrap_or_else(|error| panic!("{pattern}: {error}"))
}

/// The answer of doublestar's `Match`: nothing if it reports a bad pattern.
///
/// It notices a stray `}` only when it gets there, and has treated it as a literal until then. So a
/// path that matches the pattern with that brace escaped is matched, and any other is an error.
fn doublestar_match(pattern: &str, path: &str) -> Option<bool> {
    let mut escaped = pattern.to_owned();
    loop {
        match Glob::new(&escaped) {
            Ok(glob) if escaped == pattern => return Some(glob.matches(path)),
            Ok(glob) => return glob.matches(path).then_some(true),
            Err(error) if error.problem() == GlobProblem::StrayClosingBrace => {
                escaped.insert(error.offset(), '\\');
            }
            Err(_) => return None,
        }
    }
}

#[test]
fn doublestar_gives_the_same_answers() {
    let rows: serde_json::Value =
        serde_json::from_str(include_str!("data/glob-doublestar.json")).unwrap();
    let rows = rows.as_array().unwrap();
    assert!(rows.len() > 4000, "the file holds only {} rows", rows.len());
    let differences: Vec<String> = rows
        .iter()
        .filter_map(|row| {
            let pattern = row["pattern"].as_str().unwrap();
            let path = row["name"].as_str().unwrap();
            let is_bad = row["bad_pattern"].as_bool().unwrap();
            let expected = (!is_bad).then_some(row["match"].as_bool().unwrap());
            let actual = doublestar_match(pattern, path);
            (actual != expected)
                .then(|| format!("{pattern:?} on {path:?}: {actual:?}, not {expected:?}"))
        })
        .collect();
    assert!(
        differences.is_empty(),
        "{} rows differ:\n{}",
        differences.len(),
        differences.join("\n")
    );
}

#[test]
fn matches_what_the_documentation_says() {
    let table = [
        ("a[!b]c", "a/c", true),
        ("a[!b/]c", "a-c", true),
        ("a[!b/]c", "a/c", false),
        ("src/**", "src", true),
        ("*/**", "main.rs", true),
        ("a***", "a", false),
        ("a***", "ab", true),
        ("a*/**", "a", false),
        ("a*/**", "ab", true),
        ("a*{,b}", "a", false),
        ("a{,b}*", "a", true),
        ("a{**,b}", "a/c", false),
        ("a{**,b}", "ac", true),
        ("a/{**,b}", "a/c/d", true),
        ("**{/a,b}", "x/y/a", true),
        ("**{/a,b}", "xb", true),
        ("**{/a,b}", "x/b", false),
        ("*b**/", "bb", true),
        (r"**\/a", "x/a", true),
        (r"**\/a", "x/y/a", false),
        ("{a,b", "{a,b", false),
        ("**/{a,{b,c}d,}", "x/cd", true),
        ("**/x/**/y/z/**/*.rs", "x/y/z/a.rs", true),
        ("**/x/**/y/z/**/*.rs", "1/x/2/y/3/y/z/4/a.rs", true),
        ("**/x/**/y/z/**/*.rs", "1/y/z/2/x/a.rs", false),
        ("**/b*/**", "a/b", false),
        ("**/b*/**", "a/bc", true),
        ("**/b*/**", "a/b/c", true),
    ];
    for (pattern, path, expected) in table {
        let actual = Glob::new(pattern).is_ok_and(|glob| glob.matches(path));
        assert_eq!(actual, expected, "{pattern} on {path}");
    }
}

#[test]
fn dialects_may_ignore_case_and_separate_with_bars() {
    let options =
        GlobOptions { case: LetterCase::Insensitive, alternatives: Alternatives::CommaOrBar };
    let table = [
        ("**/*.{js|ts}", "src/a.ts", true),
        ("**/*.{js|ts}", "src/A.TS", true),
        ("**/*.{js|ts,rs}", "src/a.rs", true),
        ("**/*.{js|ts}", "src/a.js|ts", false),
        ("README.MD", "readme.md", true),
        ("README.MD", "readme.mdx", false),
        ("src/*.PY", "SRC/x.py", true),
        ("[A-C]?[!X]", "bbb", true),
        ("[A-C]?[!X]", "bbx", false),
        ("ÉTÉ/*", "été/x", true),
        ("a|b", "A|B", true),
    ];
    for (pattern, path, expected) in table {
        let glob = Glob::with_options(pattern, options).unwrap();
        assert_eq!(glob.matches(path), expected, "{pattern} on {path}");
    }
    assert!(glob("{a|b}").matches("a|b"), "a bar is a literal in doublestar");
    assert!(!glob("README.md").matches("readme.md"), "case matters in doublestar");
    let source = Glob::with_options("SRC/*.PY", options).unwrap();
    assert!(source.could_match_inside("src"));
    assert!(!source.could_match_inside("lib"));
    let vendor = Glob::with_options("{Vendor|lib}/**", options).unwrap();
    assert!(covers_everything_inside(&[&vendor], "VENDOR/x"));
    let not_a = Glob::with_options("[!a]**", options).unwrap();
    let lower_a = Glob::with_options("a*", options).unwrap();
    let below = Glob::with_options("*/**", options).unwrap();
    assert!(covers_everything_inside(&[&not_a, &lower_a, &below], ""));
    let upper_a = Glob::new("a*").unwrap();
    assert!(!covers_everything_inside(&[&not_a, &upper_a], ""));
}

#[test]
fn files_that_could_match_inside_a_directory() {
    let table = [
        ("src/**", "", true),
        ("src/**", "src", true),
        ("src/**", "src/a", true),
        ("src/**", "tests", false),
        ("src/**", "sr", false),
        ("foo/*", "", true),
        ("foo/*", "foo", true),
        ("foo/*", "foo/bar", false),
        ("{src/api,lib}/**", "src", true),
        ("{src/api,lib}/**", "src/api", true),
        ("{src/api,lib}/**", "src/web", false),
        ("{src/api,lib}/**", "lib", true),
        ("{src/api,lib}", "src", true),
        ("{src/api,lib}", "lib", false),
        ("/src/**", "", false),
        ("/src/**", "src", false),
        ("../**", "", false),
        ("./src/**", "", false),
        ("./src/**", "src", false),
        ("src/../**", "src", false),
        ("src//x", "src", false),
        ("", "", false),
        ("", "src", false),
        ("src", "", true),
        ("src", "src", false),
        ("src/", "", false),
        ("src/*/", "", false),
        ("**/", "", false),
        // What may remain at the end: a file `src` has `/**/` after it.
        ("src/**/", "", true),
        ("src/**/", "src", false),
        ("src[/]x.py", "", true),
        ("src[/]x.py", "src", true),
        ("src[/]x.py", "src/x.py", false),
        ("src[!a]x.py", "src", true),
        ("src[a-z]x.py", "src", false),
        ("[.]", "", false),
        ("[.][.]", "", false),
        ("[.][.][.]", "", true),
        ("..{,.}", "", true),
        ("[./]", "", false),
        ("*[/]", "", false),
        ("a[z-a]", "", false),
        ("a[!z-a]", "", true),
        ("[!\0-\u{10ffff}]", "", false),
        ("**/*.py", "any/where", true),
        ("**/tests/*.py", "src", true),
        ("*/*/x", "a", true),
        ("*/*/x", "a/b", true),
        ("*/*/x", "a/b/c", false),
        ("**", "", true),
        ("**", "a", true),
        ("a**", "a", false),
        ("é/*", "é", true),
    ];
    for (pattern, directory, expected) in table {
        let actual = glob(pattern).could_match_inside(directory);
        assert_eq!(actual, expected, "{pattern} inside {directory:?}");
    }
}

#[test]
fn globs_that_cover_a_directory() {
    let table: &[(&[&str], &str, bool)] = &[
        (&["**/vendor/**"], "vendor", true),
        (&["**/vendor/**"], "a/vendor", true),
        (&["**/vendor/**"], "vendor/a", true),
        (&["**/vendor/**"], "", false),
        (&["**/*.py"], "src", false),
        (&["src/api/*.py"], "src", false),
        (&["vendor/*", "vendor/*/**"], "vendor", true),
        (&["vendor/*"], "vendor", false),
        (&["vendor/*/**"], "vendor", true),
        (&["vendor/*/*", "vendor/*/*/**"], "vendor", false),
        (&["**"], "", true),
        (&["**"], "a/b", true),
        (&["**/*"], "", true),
        (&["**/*"], "a", true),
        (&["**/**"], "", true),
        (&["**/**"], "a", true),
        (&["src/**"], "", false),
        (&["src/**"], "src", true),
        (&["src/**"], "src/api", true),
        (&["src/**"], "tests", false),
        (&["src/{a,b}/**"], "src/a", true),
        (&["src/{a,b}/**"], "src", false),
        (&["**/*.py", "**/*[!y]", "**/*[!p]y", "**/*[!.]py", "**/y", "**/py"], "", true),
        (&["**/*.py", "**/*[!y]", "**/*[!p]y", "**/*[!.]py", "**/y"], "", false),
        (&["**/[a-m]*", "**/[!a-m]*"], "x", true),
        (&["**/[a-m]*", "**/[n-z]*"], "x", false),
        (&["**/?*"], "", true),
        (&["**/??*"], "", false),
        (&["**/[!.]*", "**/.[!.]*", "**/..?*"], "", true),
        (&["**/[!.]*", "**/.[!.]*"], "", false),
        (&[], "", false),
        (&["a", "", "/**"], "", false),
    ];
    for (patterns, directory, expected) in table {
        let globs: Vec<Glob> = patterns.iter().map(|pattern| glob(pattern)).collect();
        let globs: Vec<&Glob> = globs.iter().collect();
        let actual = covers_everything_inside(&globs, directory);
        assert_eq!(actual, *expected, "{patterns:?} inside {directory:?}");
    }
}

#[test]
fn a_pattern_without_syntax_is_literal() {
    assert!(glob("src/main.rs").is_literal());
    assert!(!glob(r"src/\*").is_literal());
}

#[test]
fn mistakes_are_named_where_they_are() {
    let table = [
        ("src/[ab", 4, r"unclosed '[' (write '\[' for a literal bracket)"),
        ("[", 0, r"unclosed '[' (write '\[' for a literal bracket)"),
        (r"[\]", 0, r"unclosed '[' (write '\[' for a literal bracket)"),
        ("[a-", 0, r"unclosed '[' (write '\[' for a literal bracket)"),
        ("é[]", 2, r"nothing between '[' and ']' (write '\]' for a literal bracket inside them)"),
        ("[!]", 0, r"nothing between '[' and ']' (write '\]' for a literal bracket inside them)"),
        ("[]a]", 0, r"nothing between '[' and ']' (write '\]' for a literal bracket inside them)"),
        ("*.{py,rs", 2, r"unclosed '{' (write '\{' for a literal brace)"),
        ("{a,{b}", 0, r"unclosed '{' (write '\{' for a literal brace)"),
        ("a}b", 1, r"'}' without a '{' before it (write '\}' for a literal brace)"),
        ("{a}}", 3, r"'}' without a '{' before it (write '\}' for a literal brace)"),
        (r"src\", 3, r"nothing after the last '\' (write '\\' for a literal backslash)"),
        ("{[a,b],c}", 3, r"',' inside '[...]' inside braces (write '\,' for a literal ',')"),
        ("{[}]}", 2, r"'}' inside '[...]' inside braces (write '\}' for a literal '}')"),
    ];
    for (pattern, offset, problem) in table {
        let error = Glob::new(pattern).unwrap_err();
        assert_eq!((error.offset(), &*error.problem().to_string()), (offset, problem), "{pattern}");
        assert_eq!(error.to_string(), format!("{problem}, at byte {offset}"));
    }
    assert!(glob(r"{[\,b],c}").matches(","), "an escape is all it takes");
    assert!(glob("[,{}]").matches("}"), "outside braces nothing is ambiguous");
}

#[test]
fn patterns_that_are_too_long_are_refused() {
    let long = "é".repeat(MAX_PATTERN_BYTES);
    let error = Glob::new(&long).unwrap_err();
    assert_eq!((error.offset(), error.problem()), (MAX_PATTERN_BYTES, GlobProblem::TooLong));
    let message =
        "a glob may be at most 4096 bytes long (write several shorter ones), at byte 4096";
    assert_eq!(error.to_string(), message);
    assert_eq!(Glob::new(&"*".repeat(100_000)).unwrap_err().problem(), GlobProblem::TooLong);
    let nested = "{".repeat(10_000) + &"}".repeat(10_000);
    assert_eq!(Glob::new(&nested).unwrap_err().problem(), GlobProblem::TooLong);
}

/// Answers of patterns that are meant to make a matcher backtrack, recurse or explode. Any of that
/// would keep this test from ending.
#[test]
fn hostile_patterns_are_answered() {
    let path = "a".repeat(4000);
    let stars = glob(&"*".repeat(MAX_PATTERN_BYTES));
    assert!(stars.matches(&path) && !stars.matches("a/b") && !stars.matches(""));
    assert!(stars.could_match_inside("") && !stars.could_match_inside("a"));

    let twins = glob(&("{a,a}".repeat(30) + "b"));
    assert!(twins.matches(&("a".repeat(30) + "b")) && !twins.matches(&path));
    assert!(twins.could_match_inside(""));
    assert!(!covers_everything_inside(&[&twins], ""));

    let depth = MAX_PATTERN_BYTES / 2 - 1;
    let nested = glob(&("{".repeat(depth) + "a" + &"}".repeat(depth)));
    assert!(nested.matches("a") && !nested.matches("b") && nested.could_match_inside(""));
    let comb = glob(&("{a,".repeat(1000) + &"}".repeat(1000)));
    assert!(comb.matches("a") && comb.matches("") && !comb.matches("b"));

    let optional = glob(&("{,a}".repeat(500) + "b"));
    assert!(!optional.matches(&path) && optional.matches("aab"));
    let backtracking = glob(&("*a".repeat(1000) + "b"));
    assert!(!backtracking.matches(&path));
    let deep_path = "a/".repeat(2000) + "a";
    let directories = glob(&("**/a/".repeat(500) + "b"));
    assert!(!directories.matches(&deep_path) && directories.could_match_inside(&deep_path));

    // Every name is short, or the n-th character from its end is an `a`, or it is not; but to know
    // about that character takes 2^n subsets.
    let covers_by_nth_from_end = |n: usize| {
        let mut globs: Vec<Glob> =
            (1..=n).map(|length| glob(&format!("**/{}", "?".repeat(length)))).collect();
        globs.push(glob(&format!("**/*a{}", "?".repeat(n))));
        globs.push(glob(&format!("**/*[!a]{}", "?".repeat(n))));
        covers_everything_inside(&globs.iter().collect::<Vec<_>>(), "")
    };
    assert!(covers_by_nth_from_end(3));
    assert!(!covers_by_nth_from_end(40), "given up");
    let many: Vec<Glob> = (0..200).map(|n| glob(&format!("**/*{n}[!{n}]*/**"))).collect();
    assert!(!covers_everything_inside(&many.iter().collect::<Vec<_>>(), "src"));
    let wide_ranges = glob(&"[!\0-\u{10ffff}]".repeat(400));
    assert!(!wide_ranges.could_match_inside("") && !wide_ranges.matches("a"));
}

#[test]
fn globs_are_values() {
    let python = glob("**/*.py");
    assert_eq!(python, python.clone());
    assert_eq!(python, glob("**/*.py"));
    assert_ne!(python, glob("*.py"));
    let options = GlobOptions { case: LetterCase::Insensitive, ..GlobOptions::default() };
    assert_ne!(python, Glob::with_options("**/*.py", options).unwrap());
    assert_eq!(format!("{python:?}"), r#"Glob("**/*.py")"#);
    assert_eq!(python.as_str(), "**/*.py");
}
