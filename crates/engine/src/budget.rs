//! A limit for what an answer costs.
//!
//! Whole items are cut, the most general first, until the rest fits; what is cut is left out with
//! the reason. An item that is only listed costs its name and description.

use brief_dialects::{Item, Reason, Resolution, State};

/// Counts the tokens of a text.
pub type Count<'c> = &'c dyn Fn(&str) -> usize;

/// Returns what delivering an item costs.
pub fn item_cost(item: &Item<'_>, count: Count<'_>) -> usize {
    match item.state {
        State::Active => count(item.content),
        State::Listed => count(&item.name.to_string()) + count(item.description),
        State::Manual => 0,
    }
}

/// Cuts an answer down to `budget` tokens.
pub fn cut_to_budget(answer: &mut Resolution<'_>, budget: usize, count: Count<'_>) {
    let costs: Vec<usize> =
        answer.items.iter().map(|applied| item_cost(&applied.item, count)).collect();
    let mut total: usize = costs.iter().sum();
    if total <= budget {
        return;
    }
    let mut kept = Vec::with_capacity(answer.items.len());
    for (applied, tokens) in std::mem::take(&mut answer.items).into_iter().zip(costs) {
        if total > budget && tokens > 0 {
            total -= tokens;
            answer.left_out.push(applied.leave_out(Reason::OverBudget { tokens, budget }));
        } else {
            kept.push(applied);
        }
    }
    answer.items = kept;
    answer.left_out.sort_by_key(|left_out| left_out.level);
}
