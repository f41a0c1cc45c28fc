//! "Did you mean …?" for misspelled names.

/// Returns the candidate that `name` most likely stands for.
///
/// A candidate counts if at most a third of its letters must change, ignoring case. The first of
/// equally near ones wins, so that the result depends only on the order given.
pub fn nearest<'c>(name: &str, candidates: &[&'c str]) -> Option<&'c str> {
    let mut best: Option<(usize, &str)> = None;
    for (distance, candidate) in near(name, candidates, is_inflected) {
        if best.is_none_or(|(nearest, _)| distance < nearest) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// Returns whether two words are forms of one: `match` and `matches`, `exclude` and `excluding`.
fn is_inflected(name: &str, other: &str) -> bool {
    let (short, long) = if name.len() < other.len() { (name, other) } else { (other, name) };
    let stem = short.strip_suffix('e').unwrap_or(short);
    let ending = long.strip_prefix(short).or_else(|| long.strip_prefix(stem));
    short.len() > 2 && ending.is_some_and(|ending| ["s", "es", "ed", "ing"].contains(&ending))
}

/// Returns the candidates that `name` may stand for, nearest first, `count` at most. The name may
/// also be the start or the middle of a longer one.
pub fn nearest_few<'c>(name: &str, candidates: &[&'c str], count: usize) -> Vec<&'c str> {
    let is_part =
        |name: &str, other: &str| name.len() > 2 && (other.contains(name) || name.contains(other));
    let mut near: Vec<(usize, &str)> = near(name, candidates, is_part).collect();
    near.sort_unstable();
    near.dedup();
    near.into_iter().take(count).map(|(_, candidate)| candidate).collect()
}

/// Returns the near candidates with their distance, and those that count for another reason.
fn near<'a, 'c>(
    name: &str,
    candidates: &'a [&'c str],
    counts: impl Fn(&str, &str) -> bool + 'a,
) -> impl Iterator<Item = (usize, &'c str)> {
    // A name far longer than any candidate is not a typing error, and the distance costs the
    // product of the lengths.
    let name = (name.len() <= 64).then(|| name.to_lowercase());
    candidates.iter().filter_map(move |&candidate| {
        let name = name.as_deref()?;
        let lower = candidate.to_lowercase();
        let distance = strsim::osa_distance(name, &lower);
        let allowed = candidate.chars().count().max(3) / 3;
        (distance <= allowed || counts(name, &lower)).then_some((distance, candidate))
    })
}

#[cfg(test)]
mod tests {
    use super::{nearest, nearest_few};

    #[test]
    fn a_part_of_a_name_finds_it() {
        let tasks = ["fix-bug", "fix-bug-later", "deploy", "review"];
        assert_eq!(nearest_few("fix-bgu", &tasks, 3), ["fix-bug"]);
        assert_eq!(nearest_few("fix", &tasks, 3), ["fix-bug", "fix-bug-later"]);
        assert_eq!(nearest_few("x", &tasks, 3), [""; 0]);
    }

    #[test]
    fn a_slip_finds_its_word() {
        let fields = ["content", "match", "exclude", "on", "when"];
        assert_eq!(nearest("mach", &fields), Some("match"));
        assert_eq!(nearest("Match", &fields), Some("match"));
        assert_eq!(nearest("contnet", &fields), Some("content"));
        assert_eq!(nearest("wehn", &fields), Some("when"));
        assert_eq!(nearest("matches", &fields), Some("match"));
        assert_eq!(nearest("matching", &fields), Some("match"));
        assert_eq!(nearest("excluding", &fields), Some("exclude"));
        assert_eq!(nearest("priority", &fields), None);
        assert_eq!(nearest("", &fields), None);
    }
}
