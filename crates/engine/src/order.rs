//! One order over all dialects: general first, most specific last.
//!
//! Each dialect has an order of its own, which its document settles, and it stays. Across dialects
//! the more general comes first ([`Level`]); what is equally general comes in the order of the
//! dialects.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use brief_dialects::{Applied, LeftOut, Level, Resolution};

/// Makes one answer from one of each dialect.
pub(crate) fn merge_answers<'s>(answers: impl Iterator<Item = Resolution<'s>>) -> Resolution<'s> {
    let mut merged = Resolution::default();
    let (mut items, mut left_out) = (Vec::new(), Vec::new());
    for answer in answers {
        items.push(answer.items);
        left_out.push(answer.left_out);
        merged.decisions.extend(answer.decisions);
        merged.hosted = merged.hosted.or(answer.hosted);
    }
    merged.items = merge_lists(items, |applied: &Applied<'_>| applied.item.level);
    merged.left_out = merge_lists(left_out, |left_out: &LeftOut<'_>| left_out.level);
    merged
}

fn merge_lists<T>(lists: Vec<Vec<T>>, level: impl Fn(&T) -> Level) -> Vec<T> {
    let mut lists: Vec<Vec<T>> = lists.into_iter().filter(|list| !list.is_empty()).collect();
    if lists.len() < 2 {
        return lists.pop().unwrap_or_default();
    }
    let mut merged = Vec::with_capacity(lists.iter().map(Vec::len).sum());
    let mut rest: Vec<_> = lists.into_iter().map(|list| list.into_iter().peekable()).collect();
    let mut next = BinaryHeap::new();
    for (index, list) in rest.iter_mut().enumerate() {
        next.extend(list.peek().map(|first| Reverse((level(first), index))));
    }
    while let Some(Reverse((reached, index))) = next.pop() {
        let list = &mut rest[index];
        merged.extend(list.next());
        // A list that goes back to something more general stays where it has come to.
        next.extend(list.peek().map(|first| Reverse((level(first).max(reached), index))));
    }
    merged
}

#[cfg(test)]
mod tests {
    use brief_dialects::Owner;

    use super::*;

    fn merged(lists: &[&[(usize, &'static str)]]) -> Vec<&'static str> {
        let lists = lists.iter().map(|list| list.to_vec()).collect();
        let level =
            |&(depth, _): &(usize, _)| Level { owner: Owner::Project, depth, is_scoped: false };
        merge_lists(lists, level).into_iter().map(|(_, name)| name).collect()
    }

    #[test]
    fn the_more_general_comes_first_and_equals_by_dialect() {
        let (hosted, structured) = ([(1, "h1"), (3, "h3")], [(1, "s1"), (2, "s2"), (3, "s3")]);
        assert_eq!(merged(&[&hosted, &structured]), ["h1", "s1", "s2", "h3", "s3"]);
    }

    #[test]
    fn the_order_of_a_dialect_stays_whatever_its_levels() {
        assert_eq!(merged(&[&[(3, "a"), (1, "b")], &[(2, "c"), (4, "d")]]), ["c", "a", "b", "d"]);
    }
}
