//! What a passage names, by the sentences around it.

use std::cell::OnceCell;
use std::path::Path;

use brief_syntax::markdown::{InlineCode, Passage};
use brief_system::paths::{cleaned_below, to_slashed};

use super::{Mention, ReferenceSearch};
use crate::illustrations::is_one_of_many;
use crate::references::commands::{CommandTarget, ShellDirectory, read_line};
use crate::references::manifests::Lookup;
use crate::references::{paths, tools, versions};

impl ReferenceSearch<'_, '_> {
    /// Looks at a passage; one that `illustrates` only shows how something is written.
    pub(in crate::references) fn search_passage(&mut self, passage: &Passage, illustrates: bool) {
        for version in versions::named_versions(passage) {
            self.check_version(passage, &version);
        }
        if self.names_csharp {
            self.check_csharp(passage);
        }
        if self.names_tool {
            for tool in tools::named_tools(passage) {
                self.check_tool(passage, &tool);
            }
        }
        if passage.codes.is_empty() || paths::is_log_entry(&passage.text) {
            return;
        }
        let sentences = OnceCell::new();
        // One sentence may hold thousands of codes, and is judged once.
        let mut judged = (usize::MAX, false, Mention::Plain, None);
        for code in &passage.codes {
            let commands = read_line(&code.text, &mut ShellDirectory::new());
            // The path of a link is looked at with the links.
            let is_path = commands.is_empty()
                && !code.text.contains(' ')
                && !code.is_linked
                && paths::is_path(&code.text);
            if commands.is_empty() && !is_path {
                continue;
            }
            let sentences = sentences.get_or_init(|| passage.sentences());
            let index = sentences.partition_point(|(start, _)| *start <= code.at).saturating_sub(1);
            if judged.0 != index {
                let sentence = sentences.get(index).map_or("", |(_, sentence)| *sentence);
                let is_gone = paths::tells_it_is_gone(sentence);
                let end = sentences.get(index + 1).map_or(usize::MAX, |(start, _)| *start);
                let start = sentences.get(index).map_or(0, |(start, _)| *start);
                let directory = self.directory_of_sentence(passage, start..end);
                judged = (index, is_gone, Mention::from_sentence(sentence), directory);
            }
            let (_, is_gone, mention, directory) = judged;
            let (first, sentence) = sentences.get(index).copied().unwrap_or_default();
            let at = code.at.saturating_sub(first);
            if is_gone
                || paths::is_told_past(sentence, at)
                || paths::is_told_moved(sentence, at)
                    && self.names_other_file(passage, first + at..first + sentence.len())
            {
                continue;
            }
            let illustrates = illustrates
                || is_one_of_many(passage, code.at)
                || !commands.is_empty() && self.has_alternative(passage, code);
            let mention = if illustrates { Mention::Illustration } else { mention };
            let start = code.span.start;
            for command in &commands {
                let place = command.directory.as_deref().or(directory);
                self.check_command(command, place, start, mention);
            }
            if is_path {
                let span = self.span(start, start + code.text.len());
                self.path_at(&code.text, &code.text, span, mention);
            }
        }
    }

    /// Returns whether a list joined by "or" has another command, which the project defines: "`npm run dev` or `make dev`".
    fn has_alternative(&self, passage: &Passage, code: &InlineCode) -> bool {
        let end = |code: &InlineCode| code.at + code.text.len() + 2;
        let mut choices: Vec<(Vec<&InlineCode>, bool)> = Vec::new();
        let mut previous: Option<&InlineCode> = None;
        for next in &passage.codes {
            let between = previous.and_then(|code| passage.text.get(end(code)..next.at));
            let between = between.map(|between| between.trim().trim_start_matches(',').trim());
            match (choices.last_mut(), between) {
                (Some((list, is_choice)), Some(word @ ("" | "or"))) => {
                    list.push(next);
                    *is_choice |= word == "or";
                }
                _ => choices.push((vec![next], false)),
            }
            previous = Some(next);
        }
        let is_own = |list: &Vec<&InlineCode>| list.iter().any(|other| other.at == code.at);
        let list = choices.iter().find(|(list, is_choice)| *is_choice && is_own(list));
        let directory = paths::outside_of_client(&self.directory);
        list.is_some_and(|(list, _)| {
            list.iter().filter(|other| other.at != code.at).any(|other| {
                let commands = read_line(&other.text, &mut ShellDirectory::new());
                commands.iter().any(|command| match &command.named {
                    CommandTarget::Target(runner, name) => matches!(
                        self.check.manifests.look_up(*runner, name, directory),
                        Lookup::There
                    ),
                    CommandTarget::File(_) => false,
                })
            })
        })
    }

    /// Returns whether another code in a part of a passage is the path of something that the project has.
    fn names_other_file(&self, passage: &Passage, part: std::ops::Range<usize>) -> bool {
        let files = [self.text.source.path(), self.real];
        let mut others =
            passage.codes.iter().filter(|code| code.at > part.start && code.at < part.end);
        others.any(|code| {
            paths::is_path(&code.text)
                && self.check.index.find_missing(&code.text, &code.text, files).is_none()
        })
    }

    /// Returns the directory that a sentence names, in which its commands are given: "`npm run dev` in `web`".
    fn directory_of_sentence<'p>(
        &self,
        passage: &'p Passage,
        range: std::ops::Range<usize>,
    ) -> Option<&'p str> {
        let directories = &self.check.manifests.files.directories;
        let is_known = |path: &Path| {
            cleaned_below(path)
                .is_some_and(|path| directories.binary_search(&to_slashed(&path)).is_ok())
        };
        let codes = passage.codes.iter().filter(|code| range.contains(&code.at));
        let mut names = codes.map(|code| &*code.text).filter(|text| {
            !text.contains([' ', '*', '<', '{', '$'])
                && !text.starts_with('/')
                && (text.ends_with('/')
                    || text.contains('/')
                        && (is_known(Path::new(text))
                            || is_known(&Path::new(&self.directory).join(text))))
        });
        names.next()
    }
}
