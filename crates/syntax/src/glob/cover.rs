//! The question whether globs together match every file below a directory.

use std::collections::HashSet;

use super::alphabet;
use super::program::GlobProgram;
use super::reach::Component;

/// The number of items that may be visited before the search gives up.
///
/// Lists that people write take some thousands. The problem is as hard as the inclusion of regular
/// languages, so some short lists would take forever.
const WORK_LIMIT: usize = 2_000_000;

/// Returns whether every file path that continues from these marks is matched by one of the
/// programs.
///
/// The marks of each program are those before a new component of the path. This is the subset
/// construction for all programs side by side: it visits every combination of marks that a path can
/// lead to, until it finds one where a file may end and no program accepts.
pub(super) fn covers_everything(programs: &[&GlobProgram], marks: &[Vec<u8>]) -> bool {
    let Some(characters) = alphabet::collect_representatives(programs, WORK_LIMIT) else {
        return false;
    };
    let items: usize = marks.iter().map(Vec::len).sum();
    let mut work = 0;
    let start = (Component::Start, marks.concat());
    let mut seen = HashSet::new();
    let mut pending = vec![start];
    let mut here = vec![0; items];
    while let Some((component, marks)) = pending.pop() {
        for &character in &characters {
            let Some(component) = component.next_state(character) else { continue };
            work += items + 1;
            if work > WORK_LIMIT {
                return false;
            }
            here.copy_from_slice(&marks);
            let mut next = vec![0; items];
            advance_programs(programs, &mut here, &mut next, character);
            let of_programs = || split_marks(programs, &next);
            if component.is_name()
                && !of_programs().any(|(program, marks)| program.accepts_marks(marks))
            {
                return false;
            }
            if of_programs().any(|(program, marks)| program.accepts_forever(marks)) {
                continue;
            }
            if seen.insert((component, next.clone())) {
                pending.push((component, next));
            }
        }
    }
    true
}

fn advance_programs(programs: &[&GlobProgram], here: &mut [u8], next: &mut [u8], character: char) {
    let (mut here, mut next) = (here, next);
    for program in programs {
        let length = program.items().len();
        let (own_here, others_here) = here.split_at_mut(length);
        let (own_next, others_next) = next.split_at_mut(length);
        program.advance_marks(own_here, own_next, character);
        (here, next) = (others_here, others_next);
    }
}

/// Returns the programs, each with its own part of the marks.
fn split_marks<'s>(
    programs: &'s [&'s GlobProgram],
    marks: &'s [u8],
) -> impl Iterator<Item = (&'s GlobProgram, &'s [u8])> {
    let mut rest = marks;
    programs.iter().map(move |&program| {
        let (own, others) = rest.split_at(program.items().len());
        rest = others;
        (program, own)
    })
}
