//! The possible paths below a directory, and whether a glob can match one of them.

use super::alphabet;
use super::program::{GlobProgram, ProgramItem, after_star};

/// The progress within a component of a path: an automaton that accepts only paths of files.
///
/// A file below a directory is a sequence of components, none of them empty, `.` or `..`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Component {
    /// Before its first character.
    Start,
    Dot,
    DotDot,
    Name,
}

impl Component {
    const ALL: [Component; 4] =
        [Component::Start, Component::Dot, Component::DotDot, Component::Name];

    /// Returns the state after the next character; `None` if no path has it there.
    pub(super) fn next_state(self, character: char) -> Option<Component> {
        match (self, character) {
            (Component::Name, '/') => Some(Component::Start),
            (_, '/') => None,
            (Component::Start, '.') => Some(Component::Dot),
            (Component::Dot, '.') => Some(Component::DotDot),
            _ => Some(Component::Name),
        }
    }

    /// Returns whether the path of a file can end here.
    pub(super) fn is_name(self) -> bool {
        self == Component::Name
    }
}

const MARKS: [u8; 8] = [1, 1 << 1, 1 << 2, 1 << 3, 1 << 4, 1 << 5, 1 << 6, 1 << 7];

/// The marks before an item from which some path matches, for each [`Component`] state of the path,
/// in the order of [`Component::ALL`].
type Hopeful = [u8; 4];

/// For each item of a program, the marks from which some file path that continues with a new
/// component matches.
#[derive(Debug)]
pub(super) struct MarkReach {
    hopeful: Vec<u8>,
}

impl MarkReach {
    pub(super) fn from_program(program: &GlobProgram) -> MarkReach {
        // Every move leads to the same item or to a later one, so one backward pass settles each
        // item.
        let items = program.items();
        let mut hopeful: Vec<Hopeful> = vec![[0; 4]; items.len() + 1];
        for (index, &item) in items.iter().enumerate().rev() {
            hopeful[index] = match item {
                ProgramItem::Jump { target } => hopeful[target],
                ProgramItem::Fork { otherwise } => {
                    let (here, other) = (hopeful[index + 1], hopeful[otherwise]);
                    std::array::from_fn(|component| here[component] | other[component])
                }
                ProgramItem::Star => hopeful[index + 1].map(|after| {
                    MARKS.into_iter().filter(|&mark| after_star(mark) & after != 0).sum()
                }),
                _ => collect_hopeful_marks(program, index, hopeful[index + 1]),
            };
        }
        let start = Component::Start as usize;
        MarkReach { hopeful: hopeful.iter().map(|marks| marks[start]).collect() }
    }

    /// Returns whether, with these marks at the start of a component, some file path can still
    /// match.
    pub(super) fn is_hopeful(&self, marks: &[u8]) -> bool {
        marks.iter().zip(&self.hopeful).any(|(marks, hopeful)| marks & hopeful != 0)
    }
}

/// Returns the hopeful marks before an item that consumes characters, given those before the next
/// one.
fn collect_hopeful_marks(program: &GlobProgram, index: usize, next: Hopeful) -> Hopeful {
    let item = program.items()[index];
    let accepting = program.accepting_marks(index);
    let accepting_next = program.accepting_marks(index + 1);
    // A loop consumes anything, so the first three characters are enough for it; the item itself
    // may need the fourth.
    let characters = [Some('/'), Some('.'), Some('x'), alphabet::name_character(program, item)];
    let moves = characters.map(|character| {
        let character = character?;
        Some((character, MARKS.map(|mark| program.step_marks(item, mark, character))))
    });
    let mut here = [0; 4];
    loop {
        let before = here;
        for component in Component::ALL {
            for (character, steps) in moves.iter().flatten() {
                let Some(after) = component.next_state(*character) else { continue };
                let ends = |accepting: u8| if after.is_name() { accepting } else { 0 };
                let good_same = here[after as usize] | ends(accepting);
                let good_next = next[after as usize] | ends(accepting_next);
                let good_skip = next[component as usize];
                for (mark, step) in MARKS.into_iter().zip(steps) {
                    let is_good = step.same & good_same != 0
                        || step.next & good_next != 0
                        || step.skip & good_skip != 0;
                    here[component as usize] |= if is_good { mark } else { 0 };
                }
            }
        }
        if here == before {
            return here;
        }
    }
}
