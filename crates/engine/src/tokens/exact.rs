//! The exact number of a text's tokens, for one vocabulary.
//!
//! The vocabulary takes a tenth of a second to unfold, so it is touched only when a text comes that
//! was never counted before.

use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use brief_system::{System, cache_directory, resolve_existing, resolved_home};

use super::estimate::estimate_tokens;
use super::record::{CountRecord, TextHash};

/// The vocabulary of current models of `OpenAI`, the largest one that is public.
const VOCABULARY: &str = "o200k_base";

/// Counts with a vocabulary and a record.
pub(super) struct ExactCounter<'s> {
    system: &'s dyn System,
    record: Mutex<CountRecord>,
}

impl<'s> ExactCounter<'s> {
    pub(super) fn new(system: &'s dyn System) -> ExactCounter<'s> {
        let directory = cache_directory(system).map(|cache| cache.join("tokens"));
        let exact = ExactCounter {
            system,
            record: Mutex::new(CountRecord::with_directory(directory, VOCABULARY)),
        };
        if let Ok(current) = system.current_dir() {
            exact.keep_out_of(&current);
        }
        exact
    }

    /// Works without a record that lies in `project`. The home directory is no project: what lies
    /// there is the user's own.
    pub(super) fn keep_out_of(&self, project: &Path) {
        let home = resolved_home(self.system);
        let followed = |path: &Path| resolve_existing(self.system, path).path;
        let project = followed(project);
        let mut record = self.lock_record();
        let Some(directory) = record.directory().map(followed) else {
            return;
        };
        let is_project = Some(&project) != home.as_ref() && project.parent().is_some();
        if is_project && directory.starts_with(&project) {
            record.close();
        }
    }

    pub(super) fn count(&self, text: &str) -> usize {
        if text.is_empty() {
            return 0;
        }
        let key = TextHash::from_text(text);
        // Every token has a byte at least: what says something else was not written by us.
        if let Some(known) =
            self.lock_record().find_count(self.system, key).filter(|&known| known <= text.len())
        {
            return known;
        }
        let count = count_now(text);
        self.lock_record().add_count(key, count);
        count
    }

    fn lock_record(&self) -> MutexGuard<'_, CountRecord> {
        self.record.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// New counts are written down once, at the end.
impl Drop for ExactCounter<'_> {
    fn drop(&mut self) {
        self.lock_record().write_added(self.system);
    }
}

fn count_now(text: &str) -> usize {
    match tiktoken::get_encoding(VOCABULARY) {
        Some(vocabulary) => vocabulary.count(text),
        // It is built in; a program without it still has something to say.
        None => estimate_tokens(text),
    }
}

#[cfg(test)]
mod tests {
    use brief_syntax::limits::TOKEN_COUNT_BYTES;
    use brief_system::{Files, MemorySystem};

    use super::*;
    use crate::tokens::Counter;

    const RECORD: &str = "/home/u/.cache/brief/tokens/o200k_base";

    fn system() -> MemorySystem {
        MemorySystem::new("/home/u/project").with_env("HOME", "/home/u")
    }

    fn record(system: &MemorySystem) -> Option<String> {
        let bytes = system.read(Path::new(RECORD), u64::MAX).ok()?;
        Some(String::from_utf8(bytes).unwrap())
    }

    /// A line that says of `hello world` what no vocabulary says.
    fn made_up() -> String {
        format!("{} 00000007\n", &brief_system::hash::sha256(b"hello world")[..32])
    }

    /// The numbers that the authors of the vocabulary publish with their own program.
    #[test]
    fn known_texts() {
        let system = MemorySystem::new("/");
        let counter = Counter::exact(&system);
        assert_eq!(counter.count(""), 0);
        assert_eq!(counter.count("hello world"), 2);
        assert_eq!(counter.count("tiktoken is great!"), 6);
        // A name that means something to a model is text like any other.
        assert!(counter.count("<|endoftext|>") > 1);
    }

    #[test]
    fn a_count_is_remembered_and_believed() {
        let system = system();
        assert_eq!(Counter::exact(&system).count("hello world"), 2);
        assert_eq!(record(&system), Some(made_up().replace("00000007", "00000002")));
        let system = system.with_file(RECORD, made_up());
        assert_eq!(Counter::exact(&system).count("hello world"), 7);
        assert_eq!(record(&system), Some(made_up()), "nothing is new, nothing is written");
    }

    #[test]
    fn a_damaged_record_costs_time_and_nothing_else() {
        let line = made_up();
        let torn = &line[..line.len() - 2];
        let large = made_up().replace("00000007", "00000100");
        let signed = made_up().replace("00000007", "+0000007");
        for damaged in [torn, "\0\u{ff}", &line[1..], &large, &signed] {
            let system = system().with_file(RECORD, damaged);
            assert_eq!(Counter::exact(&system).count("hello world"), 2, "{damaged:?}");
            let counter = Counter::exact(&system);
            assert_eq!(counter.count("hello world"), 2, "{damaged:?}");
            drop(counter);
            let lines = record(&system).unwrap();
            assert!(
                lines.lines().any(|found| found == line.trim_end().replace("00000007", "00000002"))
            );
        }
    }

    #[test]
    fn a_full_record_keeps_its_newer_half() {
        let filler = |number| format!("{number:032x} 00000001\n");
        let full: String = (0..TOKEN_COUNT_BYTES / 42).map(filler).collect();
        for (content, newest) in [(full.clone(), true), (full.repeat(2), false)] {
            let system = system().with_file(RECORD, content);
            assert_eq!(Counter::exact(&system).count("hello world"), 2);
            let lines = record(&system).unwrap();
            assert!(lines.len() <= TOKEN_COUNT_BYTES);
            assert!(!lines.starts_with(&filler(0)));
            assert_eq!(lines.contains(&filler(TOKEN_COUNT_BYTES / 42 - 1)), newest);
            assert!(lines.lines().all(|line| line.len() == 41));
        }
    }

    #[test]
    fn without_a_place_it_counts_all_the_same() {
        let elsewhere = MemorySystem::new("/p");
        assert_eq!(Counter::exact(&elsewhere).count("hello world"), 2);
        let taken = system().with_file("/home/u/.cache", "not a directory");
        assert_eq!(Counter::exact(&taken).count("hello world"), 2);
    }

    /// Ruling G8: asking never writes inside the project.
    #[test]
    fn nothing_is_written_into_the_project() {
        let inside = || MemorySystem::new("/p").with_env("XDG_CACHE_HOME", "/p/.cache");
        let linked = || {
            let system = MemorySystem::new("/p").with_env("XDG_CACHE_HOME", "/cache");
            system.with_link("/cache", "/p/.cache").with_dir("/p/.cache")
        };
        for system in [inside(), linked()] {
            assert_eq!(Counter::exact(&system).count("hello world"), 2);
            assert!(system.resolve(Path::new("/p/.cache/brief")).is_err());
        }
        let system = MemorySystem::new("/").with_env("XDG_CACHE_HOME", "/p/.cache").with_dir("/p");
        let counter = Counter::exact(&system).keep_out_of(Path::new("/p"));
        assert_eq!(counter.count("hello world"), 2);
        drop(counter);
        assert!(system.resolve(Path::new("/p/.cache")).is_err());
    }

    /// Texts that make some tokenizers take the square of their length, or worse.
    #[test]
    fn hostile_texts_come_to_an_end() {
        let system = MemorySystem::new("/");
        let counter = Counter::exact(&system);
        for piece in ["a", " ", "\n", "\u{4e00}", "'", "\u{301}", "ab1 ", "\u{0}"] {
            assert!(counter.count(&piece.repeat(200_000)) > 0, "{piece:?}");
        }
    }
}
