//! "Did you mean …?" for names that are almost right.

/// Returns the candidate that `name` most likely stands for.
///
/// A candidate counts when it takes at most a third of its letters to change one into the other,
/// case aside. The first of equally near ones wins, so the answer does not depend on anything but
/// the order given.
pub fn nearest<'c>(name: &str, candidates: &[&'c str]) -> Option<&'c str> {
    // A name that is far longer than any candidate is no slip of the finger, and the distance
    // costs the product of the lengths.
    if name.len() > 64 {
        return None;
    }
    let name = name.to_lowercase();
    let mut best: Option<(usize, &str)> = None;
    for &candidate in candidates {
        let distance = strsim::osa_distance(&name, &candidate.to_lowercase());
        let allowed = (candidate.chars().count().max(3)) / 3;
        if distance <= allowed && best.is_none_or(|(nearest, _)| distance < nearest) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// Returns the candidates that `name` may stand for, nearest first, `count` at most.
pub fn nearest_few<'c>(name: &str, candidates: &[&'c str], count: usize) -> Vec<&'c str> {
    if name.len() > 64 {
        return Vec::new();
    }
    let name = name.to_lowercase();
    let mut near: Vec<(usize, &str)> = Vec::new();
    for &candidate in candidates {
        let lower = candidate.to_lowercase();
        let distance = strsim::osa_distance(&name, &lower);
        let allowed = candidate.chars().count().max(3) / 3;
        // What was typed may also be the beginning or the middle of a longer name.
        let is_part = name.len() > 2 && (lower.contains(&name) || name.contains(&lower));
        if distance <= allowed || is_part {
            near.push((distance, candidate));
        }
    }
    near.sort_unstable();
    near.dedup();
    near.into_iter().take(count).map(|(_, candidate)| candidate).collect()
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
        assert_eq!(nearest("priority", &fields), None);
        assert_eq!(nearest("", &fields), None);
    }
}
