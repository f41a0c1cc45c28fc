//! The lines that a new text has and the old one had not.

use std::borrow::Cow;
use std::collections::HashMap;

use super::work::AddedRun;

/// Returns the added lines, in runs. Equal lines at both ends are the same; of the others, a line that the old text has
/// anywhere between them is moved, and not added. It takes linear time, where an exact difference would not: a line that was
/// only moved breaks no rule.
pub fn added_runs<'n>(old: &str, new: &'n str) -> Vec<AddedRun<'n>> {
    let old_lines: Vec<&str> = old.split('\n').collect();
    let new_lines: Vec<&str> = new.split('\n').collect();
    let common = |left: &mut dyn Iterator<Item = (&&str, &&str)>| -> usize {
        left.take_while(|(old, new)| old == new).count()
    };
    let before = common(&mut old_lines.iter().zip(&new_lines));
    let (old_rest, new_rest) = (&old_lines[before..], &new_lines[before..]);
    let after = common(&mut old_rest.iter().rev().zip(new_rest.iter().rev()));
    let old_rest = &old_rest[..old_rest.len() - after];
    let new_rest = &new_rest[..new_rest.len() - after];
    let mut known: HashMap<&str, usize> = HashMap::with_capacity(old_rest.len());
    for line in old_rest {
        *known.entry(line).or_default() += 1;
    }
    let mut runs: Vec<AddedRun<'n>> = Vec::new();
    let mut offset = new_lines[..before].iter().map(|line| line.len() + 1).sum::<usize>();
    // The offsets of the run that grows.
    let mut open: Option<(usize, usize)> = None;
    for (index, line) in new_rest.iter().enumerate() {
        let end = offset + line.len();
        let is_known = known.get_mut(line).is_some_and(|count| {
            let is_left = *count > 0;
            *count -= usize::from(is_left);
            is_left
        });
        if is_known {
            open = None;
        } else if let (Some((start, last)), Some(run)) = (&mut open, runs.last_mut()) {
            *last = end;
            run.text = Cow::Borrowed(&new[*start..end]);
        } else {
            open = Some((offset, end));
            let first_line = Some(before + index + 1);
            runs.push(AddedRun { first_line, text: Cow::Borrowed(&new[offset..end]) });
        }
        offset = end + 1;
    }
    // The empty piece behind the last line break is no line.
    runs.retain(|run| !run.text.is_empty() || run.first_line != Some(new_lines.len()));
    runs
}

#[cfg(test)]
mod tests {
    use super::added_runs;

    fn shown(old: &str, new: &str) -> Vec<(usize, String)> {
        let runs = added_runs(old, new).into_iter();
        runs.map(|run| (run.first_line.unwrap(), run.text.into_owned())).collect()
    }

    #[test]
    fn only_new_lines_are_added() {
        assert_eq!(shown("", "a\nb\n"), [(1, "a\nb".to_owned())]);
        assert_eq!(shown("a\nb\n", "a\nx\nb\n"), [(2, "x".to_owned())]);
        assert_eq!(shown("a\nb\n", "a\nb\n"), []);
        assert_eq!(shown("a\nb\n", "b\na\n"), []);
        assert_eq!(shown("a\n", "a\na\n"), [(2, "a".to_owned())]);
        let both = [(1, "x".to_owned()), (3, "y\nz".to_owned())];
        assert_eq!(shown("1\na\n2", "x\na\ny\nz"), both);
        assert_eq!(shown("a\nb", ""), []);
    }
}
