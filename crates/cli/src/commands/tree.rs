//! `brief tokens --tree`

use brief_engine::State;
use brief_engine::survey::SurveyedItem;
use brief_engine::tokens::Counter;
use brief_syntax::text::visible_line;
use brief_workflows::picture::{DirectoryPart, treemap_file};
use serde::Serialize;

use super::question::select_dialects;
use super::tokens::TokensArgs;
use super::whole::{
    SurveyedRow, WholeProject, format_count, shown_directory, strip_directory_prefix, when_asked,
    write_picture,
};
use crate::error::Result;
use crate::session::Session;
use crate::ui::Ui;

#[derive(Serialize)]
struct JsonTree<'s> {
    path: &'s str,
    exact: bool,
    directories: Vec<DirectoryItems<'s>>,
    items: usize,
    tokens: usize,
}

#[derive(Serialize)]
struct DirectoryItems<'s> {
    path: Option<&'s str>,
    items: Vec<SurveyedRow<'s>>,
    tokens: usize,
}

/// Prints each directory of the repository that has guidance of its own, with its items.
pub(super) fn run(ui: &mut Ui, session: &Session, args: &TokensArgs) -> Result {
    let whole = &WholeProject::read(
        ui,
        session,
        args.path.as_deref(),
        select_dialects(&args.question.only),
    )?;
    let counter = args.counting.create_counter(session, whole.root.path());
    let moment = args.question.create_request(session, None)?.moment;
    let survey = whole.survey(&moment, &counter)?;
    if let Some(file) = &args.svg {
        let parts = DirectoryPart::collect_parts(survey.files, &survey.costs, &whole.part);
        return write_picture(ui, session, file, &treemap_file(&parts));
    }
    let is_shown = |surveyed: &&SurveyedItem<'_>| match surveyed.directory.as_deref() {
        None => whole.part.is_empty(),
        Some(directory) => strip_directory_prefix(&whole.part, directory).is_some_and(|below| {
            args.depth.is_none_or(|depth| below.split_terminator('/').count() <= depth)
        }),
    };
    let mut shown: Vec<&SurveyedItem<'_>> = survey.items.iter().filter(is_shown).collect();
    // Sorted by directory, name after name, so that a directory precedes those in it. Items keep
    // the order of delivery.
    let names = |surveyed: &SurveyedItem<'_>| {
        let directory = surveyed.directory.as_deref();
        directory.map(|path| path.split('/').map(str::to_owned).collect::<Vec<_>>())
    };
    shown.sort_by_cached_key(|surveyed| names(surveyed));
    let directories: Vec<&[&SurveyedItem<'_>]> =
        shown.chunk_by(|left, right| left.directory == right.directory).collect();
    let tokens = shown.iter().filter(|of| !of.is_repeated).map(|of| of.tokens).sum();
    if args.json {
        let root = whole.root.path();
        let directories = directories.iter().map(|items| DirectoryItems {
            path: items[0].directory.as_deref(),
            items: items
                .iter()
                .map(|surveyed| SurveyedRow::from_surveyed(root, surveyed))
                .collect(),
            tokens: sum_tokens(items),
        });
        let body = JsonTree {
            path: &whole.part,
            exact: counter.is_exact(),
            directories: directories.collect(),
            items: shown.len(),
            tokens,
        };
        return whole.print_json(ui, "tokens tree", body);
    }
    let mut above: Vec<&str> = Vec::new();
    for items in &directories {
        print_directory(ui, whole, items, &mut above, &counter)?;
    }
    let places = match directories.len() {
        1 => "1 directory".to_owned(),
        places => format!("{places} directories"),
    };
    let items = format_count(shown.len(), "item");
    let all: usize = shown.iter().map(|surveyed| surveyed.tokens).sum();
    let repeated = if all > tokens {
        format!(" ({} with duplicates)", counter.render_tokens(all))
    } else {
        String::new()
    };
    ui.print_status(&format!(
        "{places}, {items}, {} tokens{repeated}",
        counter.render_tokens(tokens)
    ))
}

fn sum_tokens(items: &[&SurveyedItem<'_>]) -> usize {
    items.iter().map(|surveyed| surveyed.tokens).sum()
}

fn print_directory<'s>(
    ui: &mut Ui,
    whole: &WholeProject,
    items: &[&'s SurveyedItem<'_>],
    above: &mut Vec<&'s str>,
    counter: &Counter<'_>,
) -> Result {
    let directory = items[0].directory.as_deref();
    // The indentation counts the shown directories around it.
    if let Some(directory) = directory {
        above.retain(|outer| strip_directory_prefix(outer, directory).is_some());
    }
    let margin = "  ".repeat(above.len());
    let name = match (above.last(), directory) {
        (Some(outer), Some(directory)) => shown_directory(strip_directory_prefix(outer, directory)),
        _ => shown_directory(directory),
    };
    ui.print_heading(&format!("{margin}{name}  {}", counter.render_tokens(sum_tokens(items))))?;
    above.extend(directory);
    let numbers = items.iter().map(|surveyed| counter.render_tokens(surveyed.tokens).len());
    let width = numbers.max().unwrap_or_default();
    for surveyed in items {
        let item = &surveyed.item;
        let kind = format!("{} {}", item.dialect, item.kind);
        let mut about = vec![item.name.to_string(), kind];
        about.extend(item.trigger.map(str::to_owned));
        if !item.patterns.is_empty() {
            let patterns: Vec<&str> = item.patterns.iter().map(AsRef::as_ref).collect();
            about.push(format!("match {}", patterns.join(" ")));
        }
        let state = item.state.as_str();
        if item.state != State::Active && item.trigger != Some(state) {
            about.push(state.to_owned());
        }
        let (place, about) = (whole.render_place(item), about.join(", "));
        let asked = when_asked(item).map_or(String::new(), |when| {
            format!("  ({} {when})", counter.render_tokens(counter.count(item.content)))
        });
        // The number comes first, so that a narrow terminal wraps the rest.
        let tokens = counter.render_tokens(surveyed.tokens);
        let line = format!("{margin}  {tokens:>width$}  {place}  {about}{asked}");
        ui.print_line(visible_line(&line))?;
    }
    Ok(())
}
