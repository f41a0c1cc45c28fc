//! The clients that read a path, whatever is in it: for code that writes files for several clients.

use brief_profiles::{BUILTIN, PlaceShape, Seat};

use crate::answer::Owner;

use super::clients::read_of;

/// Returns whether a client reads a file of that path at the top of a project by itself.
///
/// Conditions that depend on other files do not count, nor does what the file says about when it holds.
pub fn client_reads_file(client: &str, path: &str) -> bool {
    let Some(client) = BUILTIN.find_client(client) else { return false };
    BUILTIN.project.iter().any(|place| {
        let Some(below) = path.strip_prefix(&*place.path) else { return false };
        let is_there = match &place.shape {
            PlaceShape::File => below.is_empty(),
            PlaceShape::Skills => below.strip_prefix('/').is_some_and(|below| {
                below.split_once('/').is_some_and(|(_, file)| file == "SKILL.md")
            }),
            PlaceShape::Tree(names) => below.strip_prefix('/').is_some_and(|below| {
                names.endings.iter().any(|ending| below.ends_with(&**ending))
                    && (names.is_deep || !below.contains('/'))
            }),
        };
        is_there
            && read_of(client, Owner::Project, place)
                .is_some_and(|read| read.seats.contains(Seat::Root))
    })
}

#[cfg(test)]
mod tests {
    use super::client_reads_file;

    #[test]
    fn a_file_is_read_by_the_clients_of_its_place() {
        assert!(client_reads_file("copilot", ".claude/rules/api.md"));
        assert!(client_reads_file("opencode", ".claude/skills/pdf/SKILL.md"));
        assert!(!client_reads_file("opencode", ".claude/rules/api.md"));
        assert!(!client_reads_file("claude", ".claude/skills/pdf/more.md"));
        assert!(!client_reads_file("claude", ".claude/rulesets/api.md"));
    }
}
