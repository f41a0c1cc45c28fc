//! A run that is killed at any step leaves the old state or the new one behind, or what the next run makes
//! the new one.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use brief_dialects::portable::{ItemId, ItemKind};
use brief_registry::manifest::ManifestEdit;
use brief_system::STAGED;
use brief_testkit::snapshot::{Snapshot, describe_differences, files_only, write_files};
use brief_testkit::{Fault, Lack, Refusal};

use crate::scene::{
    Action, Ended, Scene, act, addition, change_source, first, healthy, installed, moved_on,
    outside, tree, wanted,
};

/// More steps than any run here has.
const MOST_STEPS: usize = 2_000;

fn journal(base: &Path) -> bool {
    base.join("project/.brief/journal.json").exists()
}

/// Fails on files that no run leaves behind.
fn assert_tidy(tree: &Snapshot, why: &str) {
    let is_left = |path: &&String| path.contains("staged") || path.contains("journal");
    let left: Vec<_> = tree.keys().filter(is_left).collect();
    assert!(left.is_empty(), "{why}: {left:?}");
}

/// Kills the run at every step, and looks at what is left.
fn kill_at_every_step(scene: &Scene) {
    let (old, new) = (scene.old(), scene.new_tree());
    assert_tidy(&new, "undisturbed");
    assert_eq!(old["opencode.json"].1, new["opencode.json"].1, "whose permissions are kept");
    assert_ne!(outside(&old), outside(&new), "the run has something to do");
    // A user who repeats such a run asks for the same thing.
    let plain_ends = match scene.action {
        Action::Sync | Action::Build => None,
        _ => {
            let done = scene.copy_of(&done(scene), "plain");
            Some((plain(&scene.copy("plain-old")), plain(&done)))
        }
    };
    let mut begun = 0;
    for at in 0..MOST_STEPS {
        let base = scene.copy("killed");
        let system = scene.faulty(&base, Fault::Dies { at });
        let _ = scene.act(&system, &base);
        if !system.has_failed() {
            assert_ne!(begun, 0, "no step was behind the point of no return");
            return;
        }
        let why = format!("killed at step {at}, {}", system.steps()[at]);
        let found = tree(&base);
        let is_begun = journal(&base);
        if is_begun {
            assert_whole(&found, &old, &new, &why);
            begun += 1;
        } else {
            let (found, old, new) = (outside(&found), outside(&old), outside(&new));
            assert!(
                found == old || found == new,
                "{why}: {:#?}",
                describe_differences(&found, &old)
            );
        }
        if let Some((after_old, after_new)) = &plain_ends {
            // In the same place: a journal counts only there.
            let killed = scene.copy_of(&base, "saved");
            let found = plain(&base);
            scene.copy_of(&killed, "killed");
            let is_old = !is_begun && found == *after_old;
            assert!(
                is_old || found == *after_new,
                "{why}, then a plain run: {:?}, {:#?}",
                found.1,
                describe_differences(&found.0, &after_new.0)
            );
        }
        scene
            .act(&scene.faulty(&base, Fault::None), &base)
            .unwrap_or_else(|error| panic!("{why}: {error:?}"));
        let found = tree(&base);
        assert_same(&found, &new, &why);
        assert_tidy(&found, &why);
    }
    panic!("the run has no end");
}

/// A run that finishes the work of another one may be killed, too.
fn kill_the_recovery(scene: &Scene) {
    let (whole, new) = (scene.copy("whole"), scene.new_tree());
    let system = scene.faulty(&whole, Fault::None);
    scene.act(&system, &whole).unwrap();
    let steps = system.steps();
    let announced = steps.iter().position(|step| step == "take_file journal.json").unwrap();
    let at = announced + (steps.len() - announced) / 3;
    let base = scene.copy("killed");
    let _ = scene.act(&scene.faulty(&base, Fault::Dies { at }), &base);
    assert!(journal(&base));
    let dead = scene.copy_of(&base, "dead");
    for again in 0..MOST_STEPS {
        let base = scene.copy_of(&dead, "killed");
        let system = scene.faulty(&base, Fault::Dies { at: again });
        let _ = scene.act(&system, &base);
        if !system.has_failed() {
            return;
        }
        let why = format!("killed at step {at}, then at {again}, {}", system.steps()[again]);
        scene
            .act(&scene.faulty(&base, Fault::None), &base)
            .unwrap_or_else(|error| panic!("{why}: {error:?}"));
        assert_same(&tree(&base), &new, &why);
    }
    panic!("the recovery has no end");
}

fn done(scene: &Scene) -> PathBuf {
    let done = scene.copy("done");
    scene.act(&healthy(&done), &done).unwrap();
    done
}

/// Runs a plain `sync`, as a user does who has forgotten the request, and returns what there is then and
/// what was said. A copy that was made too early may stay.
fn plain(base: &Path) -> (Snapshot, Option<String>) {
    let problem = match act(&healthy(base), base, &Action::Sync) {
        Ok(()) => None,
        Err(Ended::Nothing(problem) | Ended::Half(problem) | Ended::Told(problem)) => {
            // It may name the directory, which is one of the test's own.
            Some(problem.split(" in `").next().unwrap_or_default().to_owned())
        }
    };
    (outside(&tree(base)), problem)
}

fn assert_same(found: &Snapshot, expected: &Snapshot, why: &str) {
    assert!(found == expected, "{why}: {:#?}", describe_differences(found, expected));
}

/// Every file is what it was or what it will be.
fn assert_whole(found: &Snapshot, old: &Snapshot, new: &Snapshot, why: &str) {
    // Where files cannot be moved, one of them is put together beside the others.
    let is_unnamed = |path: &String| path.ends_with(STAGED);
    for (path, one) in files_only(&outside(found)).into_iter().filter(|(path, _)| !is_unnamed(path))
    {
        let is_old = old.get(&path) == Some(&one);
        assert!(is_old || new.get(&path) == Some(&one), "{why}: `{path}` is neither old nor new");
    }
    let kept = files_only(old).into_iter().filter(|(path, one)| new.get(path) == Some(one));
    for (path, one) in kept {
        assert_eq!(found.get(&path), Some(&one), "{why}: `{path}` should not have been touched");
    }
}

/// Refuses each step once, and looks at what the run says about it.
fn refuse_every_step(scene: &Scene) {
    let (old, new) = (scene.old(), scene.new_tree());
    for at in 0..MOST_STEPS {
        let refusal = Refusal::ALL[at % Refusal::ALL.len()];
        let base = scene.copy("refused");
        let system = scene.faulty(&base, Fault::Refuses { at, refusal });
        let outcome = scene.act(&system, &base);
        if !system.has_failed() {
            return;
        }
        let why = format!("{refusal:?} at step {at}, {}: {outcome:?}", system.steps()[at]);
        let found = tree(&base);
        match outcome {
            // A directory that cannot be removed is left, which does no harm.
            Ok(()) => assert_same(&files_only(&found), &files_only(&new), &why),
            Err(Ended::Nothing(_)) => {
                assert_same(&outside(&found), &outside(&old), &why);
                assert!(!journal(&base), "{why}");
            }
            Err(Ended::Half(_)) if journal(&base) => assert_whole(&found, &old, &new, &why),
            Err(Ended::Half(_)) => {}
            Err(Ended::Told(_)) => panic!("{why}"),
        }
        scene
            .act(&scene.faulty(&base, Fault::None), &base)
            .unwrap_or_else(|error| panic!("{why}: {error:?}"));
        assert_same(&files_only(&tree(&base)), &files_only(&new), &why);
    }
    panic!("the run has no end");
}

fn removal() -> Action {
    let item = ItemId { kind: ItemKind::Skill, name: "ship".to_owned() };
    Action::Edit(vec![ManifestEdit::Exclude { source: "guidance".to_owned(), item }])
}

/// The rule's place is taken by a file of the user.
fn in_the_way(base: &Path) {
    wanted(base);
    write_files(&base.join("project"), &[(".claude/rules/api.md", "mine\n")]);
}

/// A file that only the user could read stays so in between and afterwards.
#[test]
fn what_was_adopted_comes_back_with_its_permissions() {
    let scene = Scene::new(Action::Clean, |base| {
        in_the_way(base);
        let secret = fs::Permissions::from_mode(0o600);
        fs::set_permissions(base.join("project/.claude/rules/api.md"), secret).unwrap();
        act(&healthy(base), base, &Action::Adopt(".claude/rules/api.md")).unwrap();
    });
    let (old, new) = (scene.old(), scene.new_tree());
    assert_ne!(old[".claude/rules/api.md"].0, Some(b"mine\n".to_vec()));
    assert_eq!(old[".brief/backups/.claude/rules/api.md"], (Some(b"mine\n".to_vec()), 0o600));
    assert_eq!(old[".brief/backups/"].1, 0o700);
    assert_eq!(new[".claude/rules/api.md"], (Some(b"mine\n".to_vec()), 0o600));
}

fn adopted(base: &Path) {
    in_the_way(base);
    act(&healthy(base), base, &Action::Adopt(".claude/rules/api.md")).unwrap();
}

fn built(base: &Path) {
    first(base);
    act(&healthy(base), base, &Action::Build).unwrap();
    change_source(base);
}

macro_rules! scenes {
    ($way:ident: $($name:ident: $action:expr, $prepare:expr $(, $lack:expr)?;)*) => {
        $(
            #[test]
            fn $name() {
                $way(&Scene::new($action, $prepare)$(.lacking($lack))?);
            }
        )*
    };
}

scenes! {
    kill_at_every_step:
    a_first_sync_may_be_killed_anywhere: Action::Sync, wanted;
    an_addition_may_be_killed_anywhere: Action::Edit(addition()), first;
    an_update_may_be_killed_anywhere: Action::Sync, moved_on;
    a_removal_may_be_killed_anywhere: removal(), installed;
    a_cleaning_may_be_killed_anywhere: Action::Clean, installed;
    an_adoption_may_be_killed_anywhere: Action::Adopt(".claude/rules/api.md"), in_the_way;
    what_was_adopted_comes_back_although_killed: Action::Clean, adopted;
    a_first_build_may_be_killed_anywhere: Action::Build, first;
    a_build_may_be_killed_anywhere: Action::Build, built;
    an_update_may_be_killed_where_files_cannot_change_places:
        Action::Sync, moved_on, Lack::Exchange;
    an_update_may_be_killed_on_two_file_systems: Action::Sync, moved_on, Lack::OneDevice;
}

scenes! {
    kill_the_recovery:
    finishing_an_update_may_be_killed_anywhere: Action::Sync, moved_on;
    finishing_a_cleaning_may_be_killed_anywhere: Action::Clean, adopted;
}

scenes! {
    refuse_every_step:
    an_addition_may_be_refused_anything: Action::Edit(addition()), first;
    an_update_may_be_refused_anything: Action::Sync, moved_on;
    an_adoption_may_be_refused_anything: Action::Adopt(".claude/rules/api.md"), in_the_way;
    a_cleaning_may_be_refused_anything: Action::Clean, adopted;
    a_build_may_be_refused_anything: Action::Build, built;
    an_update_may_be_refused_anything_where_files_cannot_change_places:
        Action::Sync, moved_on, Lack::Exchange;
    an_update_may_be_refused_anything_on_two_file_systems:
        Action::Sync, moved_on, Lack::OneDevice;
}
