//! A target: a parser, its seeds, and the words of its grammar.

/// A parser and its inputs.
pub struct Target {
    /// Its name on the command line and below `found/`.
    pub name: &'static str,
    /// Own code, or a library within our limits.
    pub backing: Backing,
    /// Gives one input to the parser.
    pub run: fn(&[u8]),
    /// Returns whether a text of `conformance/` at this path is a seed.
    pub seed: fn(&str) -> bool,
    /// Seeds beyond the conformance cases.
    pub own_seeds: &'static [&'static str],
    /// Words of the grammar.
    pub dictionary: &'static [&'static str],
    /// The longest input, in bytes.
    pub longest: usize,
}

/// The code that does most of the parsing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Backing {
    /// Code of this project.
    Own,
    /// A library, within limits of this project.
    Library,
}
