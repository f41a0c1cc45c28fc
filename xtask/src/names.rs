//! `cargo xtask names`: how well grep finds a function by its name.
//!
//! A name of one word, such as `read` or `of`, finds dozens of functions. This prints the shares that CONTRIBUTING
//! names, and the worst names, for a person to judge. It is no test: a limit that fails would breed paraphrase.

use std::collections::BTreeMap;

use clap::Args;
use proc_macro2::TokenTree;

use crate::source;

/// Participles that do not end with `ed`.
const IRREGULAR: [&str; 24] = [
    "begun",
    "bound",
    "built",
    "chosen",
    "found",
    "given",
    "gone",
    "held",
    "hidden",
    "kept",
    "known",
    "left",
    "lost",
    "made",
    "put",
    "said",
    "seen",
    "sent",
    "shown",
    "taken",
    "told",
    "understood",
    "won",
    "written",
];

/// Words that end like a participle and are none.
const NO_PARTICIPLES: [&str; 6] = ["bed", "embed", "feed", "need", "seed", "speed"];

#[derive(Debug, Args)]
pub(crate) struct NamesArgs {
    /// Print at most N names
    #[arg(long, value_name = "N", default_value_t = 40)]
    most: usize,
}

pub(crate) fn print_names(args: &NamesArgs) -> Result<(), String> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for (_, tokens) in source::parse_sources()? {
        source::visit_groups(tokens, &mut |tokens| {
            for pair in tokens.windows(2) {
                if let [TokenTree::Ident(keyword), TokenTree::Ident(name)] = pair
                    && keyword == "fn"
                {
                    *counts.entry(name.to_string()).or_default() += 1;
                }
            }
        });
    }
    let total: usize = counts.values().sum();
    let share = |test: &dyn Fn(&str, usize) -> bool| {
        let found = counts.iter().filter(|(name, count)| test(name, **count));
        let found: usize = found.map(|(_, count)| count).sum();
        let permille = 1000 * found / total.max(1);
        format!("{found} ({}.{} %)", permille / 10, permille % 10)
    };
    println!("functions outside of tests: {total}");
    println!("names of one word: {}", share(&|name, _| is_one_word(name)));
    println!("participles: {}", share(&|name, _| is_participle(name)));
    println!(
        "names of one word that occur more than five times: {}",
        share(&|name, count| { is_one_word(name) && count > 5 })
    );
    let mut worst: Vec<_> = counts.iter().filter(|(name, _)| is_one_word(name)).collect();
    worst.sort_by_key(|(name, count)| (std::cmp::Reverse(**count), *name));
    for (name, count) in worst.into_iter().take(args.most) {
        println!("{count:>5}  {name}");
    }
    Ok(())
}

fn is_one_word(name: &str) -> bool {
    !name.trim_start_matches("r#").contains('_')
}

fn is_participle(name: &str) -> bool {
    is_one_word(name)
        && (IRREGULAR.contains(&name) || name.ends_with("ed") && !NO_PARTICIPLES.contains(&name))
}
