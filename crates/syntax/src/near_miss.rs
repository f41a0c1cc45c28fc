//! "Did you mean …?" for misspelled names.

/// Returns the candidate that `name` most likely stands for.
///
/// A candidate counts if at most a third of its letters must change, ignoring case. The first of
/// equally near ones wins, so that the result depends only on the order given.
pub fn find_nearest<'c>(name: &str, candidates: &[&'c str]) -> Option<&'c str> {
    let mut best: Option<(usize, &str)> = None;
    for (distance, candidate) in near_candidates(name, candidates, is_inflected) {
        if best.is_none_or(|(nearest, _)| distance < nearest) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// Returns the advice for a misspelled name: `did you mean …?`.
pub fn suggest_nearest(name: &str, candidates: &[&str]) -> Option<String> {
    find_nearest(name, candidates).map(|near| format!("did you mean `{near}`?"))
}

/// Returns the only candidate that `name` is a typing error of: the same letters in other cases or with other hyphens,
/// or one wrong letter; two in a name of eight letters or more.
///
/// Where [`find_nearest`] offers, this is sure: a name that could stand for two candidates stands for none.
pub fn find_sure_match<'c>(name: &str, candidates: &[&'c str]) -> Option<&'c str> {
    let folded = |text: &str| -> String {
        text.chars()
            .filter(|letter| !"-_ ".contains(*letter))
            .flat_map(char::to_lowercase)
            .collect()
    };
    let count = name.chars().count();
    if !(3..=64).contains(&count) {
        return None;
    }
    let name = folded(name);
    let mut same = candidates.iter().filter(|candidate| folded(candidate) == name);
    if let Some(candidate) = same.next() {
        return same.next().is_none().then_some(*candidate);
    }
    let allowed = match count {
        3 => 0,
        4..8 => 1,
        _ => 2,
    };
    let near: Vec<(usize, &str)> = candidates
        .iter()
        .map(|&candidate| (strsim::osa_distance(&name, &folded(candidate)), candidate))
        .filter(|(distance, _)| *distance <= allowed)
        .collect();
    let least = near.iter().map(|(distance, _)| *distance).min()?;
    let mut best = near.iter().filter(|(distance, _)| *distance == least);
    let (_, candidate) = best.next()?;
    best.next().is_none().then_some(*candidate)
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
    let mut near: Vec<(usize, &str)> = near_candidates(name, candidates, is_part).collect();
    near.sort_unstable();
    near.dedup();
    near.into_iter().take(count).map(|(_, candidate)| candidate).collect()
}

/// Returns the near candidates with their distance, and those that count for another reason.
fn near_candidates<'a, 'c>(
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
    use super::{find_nearest, find_sure_match, nearest_few};

    #[test]
    fn a_slip_has_one_meaning() {
        let events = ["PreToolUse", "PostToolUse", "SessionStart", "SessionEnd", "Stop"];
        assert_eq!(find_sure_match("PreToolUze", &events), Some("PreToolUse"));
        assert_eq!(find_sure_match("pre-tool-use", &events), Some("PreToolUse"));
        assert_eq!(find_sure_match("Stpo", &events), Some("Stop"));
        assert_eq!(find_sure_match("hooky", &["hooks", "hookz"]), None);
        assert_eq!(find_sure_match("Session", &events), None);
        assert_eq!(find_sure_match("BeforeTool", &events), None);
    }

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
        assert_eq!(find_nearest("mach", &fields), Some("match"));
        assert_eq!(find_nearest("Match", &fields), Some("match"));
        assert_eq!(find_nearest("contnet", &fields), Some("content"));
        assert_eq!(find_nearest("wehn", &fields), Some("when"));
        assert_eq!(find_nearest("matches", &fields), Some("match"));
        assert_eq!(find_nearest("matching", &fields), Some("match"));
        assert_eq!(find_nearest("excluding", &fields), Some("exclude"));
        assert_eq!(find_nearest("priority", &fields), None);
        assert_eq!(find_nearest("", &fields), None);
    }
}
