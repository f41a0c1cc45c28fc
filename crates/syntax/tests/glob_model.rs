//! Globs against a model: the rules, written down as directly as possible and with no regard to
//! time, and every short path.

use std::sync::LazyLock;

use arbtest::arbitrary::{Result, Unstructured};
use arbtest::arbtest;
use brief_syntax::glob::{Alternatives, Glob, GlobOptions, LetterCase, covers_everything_inside};

/// Returns whether the pattern, which is well-formed, matches the path.
fn model_matches(pattern: &str, path: &str) -> bool {
    rest_matches(pattern, true, path)
}

/// Returns whether the rest of a pattern matches the rest of a path; `starts_segment` says whether what
/// came before was a separator, or nothing.
fn rest_matches(pattern: &str, starts_segment: bool, path: &str) -> bool {
    let Some(character) = path.chars().next() else { return may_remain(pattern) };
    let rest_of_path = &path[character.len_utf8()..];
    let Some(first) = pattern.chars().next() else { return false };
    let after_first = &pattern[first.len_utf8()..];
    match first {
        '{' => expansions(pattern).iter().any(|text| rest_matches(text, starts_segment, path)),
        '*' => stars_match(pattern, starts_segment, path),
        '?' => character != '/' && rest_matches(after_first, false, rest_of_path),
        '[' => {
            let (admits, after_class) = class_admits(after_first, character);
            admits && rest_matches(after_class, false, rest_of_path)
        }
        _ => {
            let literal = if first == '\\' { after_first } else { pattern };
            literal.starts_with(character)
                && rest_matches(&literal[character.len_utf8()..], character == '/', rest_of_path)
        }
    }
}

fn stars_match(pattern: &str, starts_segment: bool, path: &str) -> bool {
    let rest = pattern.trim_start_matches('*');
    let stars = &pattern[..pattern.len() - rest.len()];
    if rest.starts_with('{') {
        return expansions(rest)
            .iter()
            .any(|text| rest_matches(&format!("{stars}{text}"), starts_segment, path));
    }
    if stars == "**" && starts_segment {
        if rest.is_empty() {
            return true;
        }
        if let Some(after_separator) = rest.strip_prefix('/') {
            let later = path.match_indices('/').map(|(separator, _)| separator + 1);
            return [0]
                .into_iter()
                .chain(later)
                .any(|start| rest_matches(after_separator, true, &path[start..]));
        }
    }
    let most = path.find('/').unwrap_or(path.len());
    (0..=most)
        .filter(|&length| path.is_char_boundary(length))
        .any(|length| rest_matches(rest, false, &path[length..]))
}

fn may_remain(pattern: &str) -> bool {
    matches!(pattern, "" | "*" | "**" | "/**" | "**/" | "/**/")
        || pattern.starts_with('{') && expansions(pattern).iter().any(|text| may_remain(text))
}

/// Each alternative of the braces that the pattern starts with, with what follows the braces.
fn expansions(pattern: &str) -> Vec<String> {
    let mut depth = 0;
    let mut escaped = false;
    let mut alternatives = vec![String::new()];
    for (index, character) in pattern.char_indices() {
        match character {
            _ if escaped => {}
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            let rest = &pattern[index + 1..];
            return alternatives.into_iter().map(|text| text + rest).collect();
        }
        if character == ',' && depth == 1 && !escaped {
            alternatives.push(String::new());
        } else if index > 0 {
            alternatives.last_mut().expect("there is a first one").push(character);
        }
        escaped = character == '\\' && !escaped;
    }
    panic!("the braces of {pattern} are not balanced");
}

/// Returns whether a class admits the character, and the pattern after the class.
fn class_admits(class: &str, character: char) -> (bool, &str) {
    let (body, after) = class.split_once(']').expect("classes are closed");
    match body.strip_prefix(['!', '^']) {
        Some(listed) => (!listed.contains(character), after),
        None => (body.contains(character), after),
    }
}

/// A well-formed pattern of at most so many pieces.
fn any_pattern(u: &mut Unstructured<'_>, pieces: usize, depth: usize) -> Result<String> {
    const PIECES: [&str; 20] = [
        "a", "b", "a", "/", "/", "/", ".", "*", "*", "**", "**", "/**/", "**/", "***", "?", "[ab]",
        "[!a]", "[/.]", r"\*", r"\/",
    ];
    let mut pattern = String::new();
    for _ in 0..u.int_in_range(0..=pieces)? {
        if depth > 0 && u.ratio(1, 6)? {
            let alternatives: Result<Vec<String>> =
                (0..u.int_in_range(1..=3)?).map(|_| any_pattern(u, 2, depth - 1)).collect();
            pattern += &["{", &alternatives?.join(","), "}"].concat();
        } else {
            pattern.push_str(u.choose(&PIECES)?);
        }
    }
    Ok(pattern)
}

/// A pattern that people write: segments around `**`.
fn ordinary_pattern(u: &mut Unstructured<'_>) -> Result<String> {
    const SEGMENTS: [&str; 14] = [
        "a", "b", "*", "**", "**", "a*", "*b", "*a*", "?", "[ab]*", "{a,b}", "*{.a,.b}", "{a,}*b",
        "*{,a}",
    ];
    let segments: Result<Vec<&str>> =
        (0..u.int_in_range(1..=6)?).map(|_| u.choose(&SEGMENTS).copied()).collect();
    Ok(segments?.join("/"))
}

fn any_path(u: &mut Unstructured<'_>) -> Result<String> {
    (0..u.int_in_range(0..=9)?)
        .map(|_| u.choose(&['a', 'a', 'b', '/', '/', '.', '*', 'é']))
        .collect()
}

fn any_directory(u: &mut Unstructured<'_>) -> Result<&'static str> {
    u.choose(&["", "a", "b", "a/b", "a/a/b", "x", ".a"]).copied()
}

/// The paths that can follow a directory in the path of a file below it: every short way, and longer ones of
/// fewer characters. `x` appears in no pattern.
static CONTINUATIONS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let mut all = texts_of("ab*x./", 5);
    all.extend(texts_of("ax/", 7));
    all.extend(texts_of("x/", 10));
    all.retain(|path| path.split('/').all(|component| !matches!(component, "" | "." | "..")));
    all
});

/// All texts of these characters up to some length, the shortest first.
fn texts_of(characters: &str, longest: usize) -> Vec<String> {
    let mut all = vec![String::new()];
    let mut longest_so_far = 0..1;
    for _ in 0..longest {
        for index in longest_so_far.clone() {
            for character in characters.chars() {
                all.push(format!("{}{character}", all[index]));
            }
        }
        longest_so_far = longest_so_far.end..all.len();
    }
    all
}

fn paths_inside(directory: &str) -> impl Iterator<Item = String> {
    let separator = if directory.is_empty() { "" } else { "/" };
    CONTINUATIONS.iter().map(move |path| format!("{directory}{separator}{path}"))
}

#[test]
fn any_pattern_matches_as_the_model_does() {
    arbtest(|u| {
        let pattern = any_pattern(u, 6, 2)?;
        let path = any_path(u)?;
        let glob = Glob::new(&pattern).unwrap();
        assert_eq!(glob.matches(&path), model_matches(&pattern, &path), "{pattern:?} on {path:?}");
        Ok(())
    })
    .budget_ms(1_000);
}

#[test]
fn ordinary_patterns_match_as_the_model_does() {
    arbtest(|u| {
        let pattern = ordinary_pattern(u)?;
        let path = any_path(u)?;
        let glob = Glob::new(&pattern).unwrap();
        assert_eq!(glob.matches(&path), model_matches(&pattern, &path), "{pattern:?} on {path:?}");
        Ok(())
    })
    .budget_ms(1_000);
}

/// With letters of one case on both sides, ignoring case makes no difference; so it must not make
/// one for any other spelling either.
#[test]
fn spelling_makes_no_difference_when_case_is_ignored() {
    let options =
        GlobOptions { case: LetterCase::Insensitive, alternatives: Alternatives::CommaOrBar };
    arbtest(|u| {
        let pattern = if u.arbitrary()? { any_pattern(u, 5, 2)? } else { ordinary_pattern(u)? };
        let path = any_path(u)?;
        let respell = |u: &mut Unstructured<'_>, text: &str| -> Result<String> {
            text.chars()
                .map(|character| {
                    let other = match character {
                        ',' => '|',
                        'é' => 'É',
                        _ => character.to_ascii_uppercase(),
                    };
                    Ok(if u.arbitrary()? { other } else { character })
                })
                .collect()
        };
        let glob = Glob::with_options(&respell(u, &pattern)?, options).unwrap();
        let path_as_spelt = respell(u, &path)?;
        let expected = model_matches(&pattern, &path);
        assert_eq!(glob.matches(&path_as_spelt), expected, "{glob:?} on {path_as_spelt:?}");
        Ok(())
    })
    .budget_ms(1_500);
}

#[test]
fn no_text_makes_it_panic() {
    arbtest(|u| {
        let characters: Result<String> = (0..u.int_in_range(0..=12)?)
            .map(|_| u.choose(&['a', '/', '*', '?', '[', ']', '!', '-', '{', '}', ',', '\\', '日']))
            .collect();
        let pattern = characters?;
        match Glob::new(&pattern) {
            Ok(glob) => {
                let path = any_path(u)?;
                let could = glob.could_match_inside("");
                let is_file =
                    path.split('/').all(|component| !matches!(component, "" | "." | ".."));
                assert!(could || !is_file || !glob.matches(&path), "{pattern:?} on {path:?}");
            }
            Err(error) => assert!(pattern.is_char_boundary(error.offset()), "{pattern:?}"),
        }
        Ok(())
    })
    .budget_ms(1_000);
}

#[test]
fn a_glob_could_match_inside_if_it_matches_some_path() {
    arbtest(|u| {
        let pattern = any_pattern(u, 4, 1)?;
        let directory = any_directory(u)?;
        let could = Glob::new(&pattern).unwrap().could_match_inside(directory);
        let witness = paths_inside(directory).find(|path| model_matches(&pattern, path));
        if let Some(path) = witness {
            assert!(could, "{pattern:?} matches {path:?}");
        } else if pattern.len() <= 5 {
            // So short a pattern would match a short path, if any.
            assert!(!could, "{pattern:?} matches no short path inside {directory:?}");
        }
        Ok(())
    })
    .budget_ms(1_500);
}

#[test]
fn globs_cover_a_directory_if_every_path_is_matched() {
    const COVERING: [&str; 22] = [
        "*",
        "**",
        "*/**",
        "*/*",
        "*/*/**",
        "**/*",
        "a/**",
        "a/*",
        "a*",
        "[!a]*",
        "[!a]*/**",
        "?*",
        "?",
        "??*",
        ".*",
        "[!.]*",
        "**/a*",
        "**/[!a]*",
        "{a,b}*/**",
        "**/?",
        "**/?{?,/}*",
        "**/b/**",
    ];
    arbtest(|u| {
        let mut all_simple = true;
        let patterns: Result<Vec<String>> = (0..u.int_in_range(1..=4)?)
            .map(|_| {
                let covering = u.ratio(3, 4)?;
                all_simple &= covering;
                if covering {
                    u.choose(&COVERING).map(|&text| text.to_owned())
                } else {
                    any_pattern(u, 3, 1)
                }
            })
            .collect();
        let patterns = patterns?;
        let directory = any_directory(u)?;
        let globs: Vec<Glob> = patterns.iter().map(|pattern| Glob::new(pattern).unwrap()).collect();
        let covers = covers_everything_inside(&globs.iter().collect::<Vec<_>>(), directory);
        let exception = paths_inside(directory)
            .find(|path| !patterns.iter().any(|pattern| model_matches(pattern, path)));
        match exception {
            Some(path) => assert!(!covers, "{patterns:?} do not match {path:?}"),
            // So simple a list would miss a short path, if any; another could miss only long ones.
            None => assert!(
                covers || !all_simple,
                "{patterns:?} match every short path inside {directory:?}"
            ),
        }
        Ok(())
    })
    .budget_ms(1_500);
}

#[test]
fn the_model_knows_the_examples() {
    assert_eq!(expansions(r"{a,{b,c},\,}d"), ["ad", "{b,c}d", r"\,d"]);
    assert!(model_matches("{src/**,lib}/x.py", "src/a/b/x.py"));
    assert!(model_matches("src/**", "src"));
    assert!(!model_matches("a***", "a"));
    assert!(!model_matches("**/**", ""));
}
