//! The number of tokens of a text.
//!
//! Two methods: an estimate in one pass, for every hook and every listing, and the exact
//! number of one public vocabulary, for users who ask. The tokenizers of many models are not public, so
//! the exact number is exact for some of them and a good guess for the rest.

mod estimate;
mod exact;
mod record;

pub use estimate::estimate_tokens;

use std::path::Path;

use brief_system::System;

use exact::ExactCounter;

/// Counts tokens.
pub struct Counter<'s> {
    /// `None` for estimates.
    exact: Option<ExactCounter<'s>>,
}

impl<'s> Counter<'s> {
    /// Returns a counter that is fast and roughly right.
    pub fn estimate() -> Counter<'s> {
        Counter { exact: None }
    }

    /// Returns a counter that is exact for the `o200k` vocabulary. Counts are remembered in the
    /// user's cache directory by the hash of the text, so that only new texts cost time; a record
    /// that cannot be read or written is none.
    pub fn exact(system: &'s dyn System) -> Counter<'s> {
        Counter { exact: Some(ExactCounter::new(system)) }
    }

    /// Remembers nothing if the record would lie in `project`: asking never writes there.
    #[must_use]
    pub fn keep_out_of(self, project: &Path) -> Counter<'s> {
        if let Some(exact) = &self.exact {
            exact.keep_out_of(project);
        }
        self
    }

    /// Returns how many tokens `text` costs.
    pub fn count(&self, text: &str) -> usize {
        match &self.exact {
            None => estimate_tokens(text),
            Some(exact) => exact.count(text),
        }
    }

    /// Returns whether its numbers are exact.
    pub fn is_exact(&self) -> bool {
        self.exact.is_some()
    }

    /// Returns a number of tokens as people read it: an estimate does not look more exact than it
    /// is.
    pub fn render_tokens(&self, tokens: usize) -> String {
        if self.is_exact() { tokens.to_string() } else { format!("~{}", render_rounded(tokens)) }
    }
}

/// Writes a number with two digits that count: 87, 870, 1.2k, 12k, 120k, 1.2M.
fn render_rounded(number: usize) -> String {
    const UNITS: [(usize, &str); 2] = [(1_000_000, "M"), (1_000, "k")];
    for (unit, letter) in UNITS {
        // What would round up to the next unit is shown in it: 999,600 is 1.0M.
        if number >= unit - unit / 2_000 {
            let tenths = (number + unit / 20) / (unit / 10);
            return match tenths {
                100.. => format!("{}{letter}", (number + unit / 2) / unit),
                _ => format!("{}.{}{letter}", tenths / 10, tenths % 10),
            };
        }
    }
    number.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_estimate_has_two_digits() {
        let shown = |tokens| Counter::estimate().render_tokens(tokens);
        assert_eq!(shown(0), "~0");
        assert_eq!(shown(999), "~999");
        assert_eq!(shown(1_000), "~1.0k");
        assert_eq!(shown(1_249), "~1.2k");
        assert_eq!(shown(9_949), "~9.9k");
        assert_eq!(shown(9_950), "~10k");
        assert_eq!(shown(999_499), "~999k");
        assert_eq!(shown(999_500), "~1.0M");
        assert_eq!(shown(usize::MAX / 2), "~9223372036855M");
    }
}
