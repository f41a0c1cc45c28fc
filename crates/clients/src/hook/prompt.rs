//! Finds the paths that a user's prompt mentions.
//!
//! A prompt is prose. A word counts as a path if it looks like one; the hook then asks only about those that
//! exist in the project.

/// The limit for the paths of one prompt.
const MOST_PATHS: usize = 8;

/// The limit for the bytes of a prompt that are searched.
const MOST_BYTES: usize = 64 * 1024;

/// The tags around a text that a hook has given to a prompt: its paths are not the user's.
const OTHERS: [&str; 2] = ["<hook_context>", "</hook_context>"];

/// Returns the words of a prompt that look like paths, in order, each once.
pub(super) fn collect_prompt_paths(prompt: &str) -> Vec<String> {
    let mut end = prompt.len().min(MOST_BYTES);
    while !prompt.is_char_boundary(end) {
        end -= 1;
    }
    let mut prompt = &prompt[..end];
    let mut found = Vec::new();
    while let Some(start) = prompt.find(OTHERS[0]) {
        add_paths(&mut found, &prompt[..start]);
        let rest = &prompt[start..];
        prompt = rest.find(OTHERS[1]).map_or("", |end| &rest[end + OTHERS[1].len()..]);
    }
    add_paths(&mut found, prompt);
    found
}

fn add_paths(found: &mut Vec<String>, text: &str) {
    for word in text.split(|c: char| c.is_whitespace() || "`'\"()<>[]{}|,;".contains(c)) {
        let word = word.strip_prefix('@').unwrap_or(word);
        let word = word.trim_end_matches(['.', ':', '?', '!']);
        let name = word.rsplit('/').next().unwrap_or_default();
        let has_ending = name.trim_start_matches('.').contains('.');
        let looks_like_a_path = (word.contains('/') || has_ending) && !word.contains("://");
        if looks_like_a_path && found.len() < MOST_PATHS && !found.iter().any(|path| path == word) {
            found.push(word.to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_look_like_paths_are_found() {
        for (prompt, expected) in [
            ("please change src/api/a.py", &["src/api/a.py"][..]),
            ("Fix @src/a.py, then `lib/b.rs`: why?", &["src/a.py", "lib/b.rs"]),
            ("look at (a.py) and \"b.py\".", &["a.py", "b.py"]),
            ("see https://example.com/x.py and version 1.2 of it", &["1.2"]),
            ("please change it", &[]),
            ("", &[]),
            ("a.py a.py", &["a.py"]),
            ("<hook_context>read rules/x.md</hook_context>\n\nchange a.py", &["a.py"]),
            ("<hook_context>read rules/x.md", &[]),
        ] {
            assert_eq!(collect_prompt_paths(prompt), expected, "{prompt}");
        }
    }

    #[test]
    fn any_text_ends() {
        arbtest::arbtest(|bytes| {
            let text: String = bytes.arbitrary()?;
            assert!(collect_prompt_paths(&text).len() <= MOST_PATHS);
            Ok(())
        });
        assert_eq!(collect_prompt_paths(&"ä.py  ".repeat(100_000)), ["ä.py"]);
    }
}
