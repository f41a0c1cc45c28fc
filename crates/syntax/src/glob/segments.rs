//! The fast matcher: a path against a pattern that can be matched segment by segment.
//!
//! Most globs are segments that each match one component of a path, around at most one `**`. For
//! those the components at both ends of the path decide, and the middle is not read: `**/*.py`
//! costs the last component of the path, at any length of the path. It works on the text of the
//! pattern, so that a glob that is matched only once is never compiled.
//!
//! [`GlobShape::of`] accepts a pattern only if the result equals that of the general matcher. It
//! rejects rare or strange patterns: a class that can match a separator, braces around one, doubled
//! stars that are not a whole segment.

use super::GlobOptions;
use super::error::GlobError;
use super::letters::LetterCase;
use super::program::GlobProgram;
use super::scan::{Scanner, Token, is_plain};

/// The way in which a pattern can be matched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GlobShape {
    /// It has no syntax: it matches its own text.
    Literal,
    /// Each of its segments matches one component of a path, or is `**`; not two `**` in a row.
    Segments,
    /// Any other pattern, for the general matcher.
    General,
}

impl GlobShape {
    /// Scans a whole pattern for its shape, and returns its first error.
    pub(super) fn from_pattern(
        pattern: &str,
        options: GlobOptions,
    ) -> Result<GlobShape, GlobError> {
        if is_plain(pattern) {
            return Ok(GlobShape::Literal);
        }
        let mut survey = ShapeSurvey { in_segments: true, ..ShapeSurvey::default() };
        let mut scanner = Scanner::new(pattern, options.alternatives);
        while let Some(token) = scanner.next() {
            survey.add_token(token?, scanner.within_braces(), options.case);
        }
        survey.end_segment();
        // A pattern that ends with a separator may leave another rest: `src/**/` matches `src`.
        // Such patterns are too rare for a rule here.
        let in_segments = survey.in_segments && !pattern.ends_with('/');
        Ok(if in_segments { GlobShape::Segments } else { GlobShape::General })
    }
}

/// The state of the scan for a [`GlobShape`].
#[derive(Default)]
struct ShapeSurvey {
    in_segments: bool,
    /// The segment before this one was `**`.
    after_double_star: bool,
    segment: SegmentSurvey,
}

#[derive(Default)]
struct SegmentSurvey {
    stars: usize,
    /// The length of the current run of stars.
    star_run: usize,
    longest_star_run: usize,
    has_braces: bool,
    /// True if it has other text outside braces, so that no expansion is only stars.
    has_text: bool,
}

impl ShapeSurvey {
    fn add_token(&mut self, token: Token<'_>, within_braces: bool, case: LetterCase) {
        let segment = &mut self.segment;
        let star_run = std::mem::take(&mut segment.star_run);
        match token {
            Token::Separator if within_braces => self.in_segments = false,
            Token::Separator => self.end_segment(),
            Token::Star => {
                segment.stars += 1;
                segment.star_run = star_run + 1;
                segment.longest_star_run = segment.longest_star_run.max(segment.star_run);
            }
            Token::Open | Token::Next | Token::Close => segment.has_braces = true,
            Token::Literal(_) | Token::AnyCharacter | Token::Class(_) => {
                segment.has_text |= !within_braces;
                if concerns_separator(token, case) {
                    self.in_segments = false;
                }
            }
        }
    }

    fn end_segment(&mut self) {
        let segment = std::mem::take(&mut self.segment);
        let is_double_star = segment.stars == 2 && !segment.has_text && !segment.has_braces;
        let fits = if is_double_star {
            !self.after_double_star
        } else if segment.has_braces {
            // A segment with braces fits if no expansion of it is `**`.
            segment.has_text || segment.stars < 2
        } else {
            segment.longest_star_run < 2
        };
        self.in_segments &= fits;
        self.after_double_star = is_double_star;
    }
}

fn concerns_separator(token: Token<'_>, case: LetterCase) -> bool {
    match token {
        Token::Literal(character) => character == '/',
        Token::Class(class) => class.names_separator() || class.admits_character('/', case),
        _ => false,
    }
}

/// Matches a path against a pattern of [`GlobShape::Segments`].
pub(super) struct SegmentMatcher<'g, P> {
    pub(super) pattern: &'g str,
    pub(super) options: GlobOptions,
    /// Compiles the pattern, only for a segment that has braces.
    pub(super) program: P,
}

/// The end of the path relative to one of its components. It matters because fewer rests of a
/// pattern may remain at the end of a path than can match nothing.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PathEnd {
    Later,
    /// After this one, where the pattern must end too.
    Here,
    /// After this one, with `/**` as the rest of the pattern. That may remain, but not `*/**`.
    BeforeDoubleStar,
}

impl<'g, P: Fn() -> &'g GlobProgram> SegmentMatcher<'g, P> {
    /// Returns whether the path matches; it must neither be empty nor end with a separator.
    pub(super) fn matches(&self, path: &str) -> bool {
        let mut segments = PathPieces::from_text(self.pattern);
        let mut components = PathPieces::from_text(path);
        while let Some(segment) = segments.take_first() {
            if segment.text == "**" {
                return self.matches_after_double_star(segments, components);
            }
            let Some(component) = components.take_first() else { return false };
            let end = match (components.rest, segments.rest) {
                (Some(_), _) => PathEnd::Later,
                (None, Some("**")) => PathEnd::BeforeDoubleStar,
                (None, _) => PathEnd::Here,
            };
            if !self.segment_matches(segment, component.text, end) {
                return false;
            }
        }
        components.rest.is_none()
    }

    /// Returns whether the rest of the path matches the pattern after its first `**`.
    fn matches_after_double_star(
        &self,
        mut segments: PathPieces<'g>,
        mut components: PathPieces<'_>,
    ) -> bool {
        let mut end = PathEnd::Here;
        while let Some(segment) = segments.take_last() {
            if segment.text == "**" {
                let at_end_of_path = end == PathEnd::Here;
                let end = if at_end_of_path { PathEnd::BeforeDoubleStar } else { PathEnd::Later };
                return self.blocks_match(segments, components, end);
            }
            let Some(component) = components.take_last() else { return false };
            if !self.segment_matches(segment, component.text, end) {
                return false;
            }
            end = PathEnd::Later;
        }
        true
    }

    /// Returns whether the blocks of segments between two `**` occur among the components, in order
    /// and without overlap. Each is taken at its first occurrence, which leaves the most to those
    /// after it. `end` describes the end after the last component.
    fn blocks_match(
        &self,
        mut segments: PathPieces<'g>,
        mut components: PathPieces<'_>,
        end: PathEnd,
    ) -> bool {
        while segments.rest.is_some() {
            match self.block_matches(segments, components, end) {
                Some(after) => (segments, components) = after,
                None if components.take_first().is_none() => return false,
                None => {}
            }
        }
        true
    }

    /// Returns the blocks and components after the first block, if that matches the first
    /// components.
    fn block_matches<'t>(
        &self,
        mut segments: PathPieces<'g>,
        mut components: PathPieces<'t>,
        end: PathEnd,
    ) -> Option<(PathPieces<'g>, PathPieces<'t>)> {
        while let Some(segment) = segments.take_first()
            && segment.text != "**"
        {
            let component = components.take_first()?;
            let end = if components.rest.is_none() { end } else { PathEnd::Later };
            if !self.segment_matches(segment, component.text, end) {
                return None;
            }
        }
        Some((segments, components))
    }

    fn segment_matches(&self, segment: PathPiece<'_>, component: &str, end: PathEnd) -> bool {
        if segment.text.contains('{') {
            let is_last = end != PathEnd::Later;
            return (self.program)().segment_matches(segment.offset, component, is_last);
        }
        let may_remain = if end == PathEnd::BeforeDoubleStar { "" } else { "*" };
        component_matches(segment.text, component, self.options, may_remain)
    }
}

/// Returns whether a segment without braces and doubled stars matches a component. At the end of
/// the component, `may_remain` or nothing may remain of the segment.
///
/// A star takes as little as it can, and one character more whenever the text after it fails. Only
/// the last star has to be retried: an earlier one that took more could only leave less.
fn component_matches(
    segment: &str,
    component: &str,
    options: GlobOptions,
    may_remain: &str,
) -> bool {
    if let Some(suffix) = segment.strip_prefix('*')
        && !suffix.is_empty()
        && options.case == LetterCase::Sensitive
        && is_plain(suffix)
    {
        return component.ends_with(suffix);
    }
    let mut pattern = segment;
    let mut text = component;
    let mut retry: Option<(&str, &str)> = None;
    loop {
        let mut characters = text.chars();
        let Some(character) = characters.next() else {
            return pattern.is_empty() || pattern == may_remain;
        };
        let mut scanner = Scanner::new(pattern, options.alternatives);
        let token = scanner.next().and_then(Result::ok);
        let rest = &pattern[scanner.offset()..];
        if token == Some(Token::Star) {
            if rest.is_empty() {
                return true;
            }
            pattern = rest;
            retry = Some((rest, characters.as_str()));
        } else if token.is_some_and(|token| token_admits(token, character, options.case)) {
            pattern = rest;
            text = characters.as_str();
        } else if let Some((after_star, shorter)) = retry {
            pattern = after_star;
            text = shorter;
            let mut characters = shorter.chars();
            retry = characters.next().map(|_| (after_star, characters.as_str()));
        } else {
            return false;
        }
    }
}

fn token_admits(token: Token<'_>, character: char, case: LetterCase) -> bool {
    match token {
        Token::Literal(literal) => case.is_same_letter(literal, character),
        Token::AnyCharacter => true,
        Token::Class(class) => class.admits_character(character, case),
        Token::Separator | Token::Star | Token::Open | Token::Next | Token::Close => false,
    }
}

/// A segment of a pattern or a component of a path.
#[derive(Clone, Copy)]
struct PathPiece<'t> {
    offset: usize,
    text: &'t str,
}

/// The part of a text between separators that has not been taken from either end.
#[derive(Clone, Copy)]
struct PathPieces<'t> {
    offset: usize,
    /// Empty text is one empty piece; `None` only after the last piece was taken.
    rest: Option<&'t str>,
}

impl<'t> PathPieces<'t> {
    fn from_text(text: &'t str) -> PathPieces<'t> {
        PathPieces { offset: 0, rest: Some(text) }
    }

    fn take_first(&mut self) -> Option<PathPiece<'t>> {
        let rest = self.rest?;
        let offset = self.offset;
        let (first, others) = match rest.split_once('/') {
            Some((first, others)) => (first, Some(others)),
            None => (rest, None),
        };
        self.offset += first.len() + 1;
        self.rest = others;
        Some(PathPiece { offset, text: first })
    }

    fn take_last(&mut self) -> Option<PathPiece<'t>> {
        let rest = self.rest?;
        let (others, last) = match rest.rsplit_once('/') {
            Some((others, last)) => (Some(others), last),
            None => (None, rest),
        };
        self.rest = others;
        Some(PathPiece { offset: self.offset + rest.len() - last.len(), text: last })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(pattern: &str) -> GlobShape {
        GlobShape::from_pattern(pattern, GlobOptions::default()).unwrap()
    }

    #[test]
    fn common_patterns_are_taken_by_segments() {
        for pattern in
            ["**/*.py", "src/**", "a/**/b/**/*.rs", "*.{py,rs}", "{a,b}/**", "[a-c]?/\\*"]
        {
            assert_eq!(shape(pattern), GlobShape::Segments, "{pattern}");
        }
        assert_eq!(shape("src/main.rs"), GlobShape::Literal);
    }

    #[test]
    fn patterns_with_surprises_are_not() {
        let surprising =
            ["a**", "**/**", "src/**/", r"a\/b", "[!a]", "[+-9]", "{a/,b}c", "{**,a}", "*{*,a}/b"];
        for pattern in surprising {
            assert_eq!(shape(pattern), GlobShape::General, "{pattern}");
        }
    }

    #[test]
    fn the_middle_of_a_path_is_not_looked_at() {
        let options = GlobOptions::default();
        let never = || -> &'static GlobProgram { panic!("nothing to compile") };
        let matcher = SegmentMatcher { pattern: "src/**/*.py", options, program: never };
        assert!(matcher.matches("src/a/b/x.py"));
        assert!(matcher.matches("src/x.py"));
        assert!(!matcher.matches("src/x.rs"));
        assert!(!matcher.matches("x.py"));
    }

    #[test]
    fn both_matchers_agree() {
        const SEGMENTS: [&str; 12] =
            ["a", "", "*", "**", "**", "a*", "*b", "*a*", "?", "[ab]*", "{a,b}", "*{.a,,b}"];
        arbtest::arbtest(|u| {
            let segments: arbtest::arbitrary::Result<Vec<&str>> =
                (0..u.int_in_range(1..=6)?).map(|_| u.choose(&SEGMENTS).copied()).collect();
            let pattern = segments?.join("/");
            let length = u.int_in_range(0..=10)?;
            let path: arbtest::arbitrary::Result<String> =
                (0..length).map(|_| u.choose(&['a', 'b', '/', '.'])).collect();
            let path = path? + "a";
            if shape(&pattern) == GlobShape::Segments {
                let options = GlobOptions::default();
                let program =
                    GlobProgram::compile(&pattern, options.case, options.alternatives).unwrap();
                let matcher = SegmentMatcher { pattern: &pattern, options, program: || &program };
                assert_eq!(matcher.matches(&path), program.matches(&path), "{pattern} on {path}");
            }
            Ok(())
        })
        .budget_ms(500);
    }
}
