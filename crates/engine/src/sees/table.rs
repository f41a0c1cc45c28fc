//! The table of items and clients while it is made, and its rules: a row for each item, sums that are those of the
//! rows, and `same` only beside a row that says what the client has.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use brief_dialects::{
    Applied, BindingDecision, Item, LeftOut, Level, LoadedPart, Name, Origin, Reason, State,
    structured,
};
use brief_syntax::Target;
use brief_syntax::render::path_below;

use super::{Arrival, SamePlace, SeenItem, Sees, Sight, Total, Viewer};
use crate::budget::{Count, item_cost};
use crate::catalog::Catalog;
use crate::repetition::Text;

/// True if reasons are put into words. Sums need none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReasonWords {
    Written,
    Skipped,
}

/// The values that distinguish an item from all others.
type RowKey<'c> = (&'static str, &'c Path, usize, Name<'c>);

/// The items so far, by where they stand.
pub(crate) struct SeesTable<'c> {
    root: &'c Path,
    viewers: &'c [Viewer],
    words: ReasonWords,
    items: Vec<SeenItem<'c>>,
    rows: HashMap<RowKey<'c>, usize>,
    /// The place with the same text, of each row and client that has one.
    same: BTreeMap<(usize, usize), Origin<'c>>,
    /// For each client, the row that delivers a text, or would.
    told: Vec<HashMap<Text<'c>, usize>>,
}

impl<'c> SeesTable<'c> {
    pub(crate) fn from_catalog(
        catalog: &'c Catalog,
        root: &'c Path,
        viewers: &'c [Viewer],
        count: Count<'_>,
        words: ReasonWords,
    ) -> SeesTable<'c> {
        let mut table = SeesTable {
            root,
            viewers,
            words,
            items: Vec::new(),
            rows: HashMap::new(),
            same: BTreeMap::new(),
            told: vec![HashMap::new(); viewers.len()],
        };
        for (column, viewer) in viewers.iter().enumerate() {
            let answer = catalog.resolve_moment(&viewer.moment);
            for applied in &answer.items {
                table.put_item(column, applied, count);
            }
            for bound in &answer.decisions {
                table.put_decision(column, bound);
            }
            for left_out in &answer.left_out {
                table.put_left_out(column, left_out, count);
            }
        }
        table
    }

    /// Puts an item that applies into a client's column.
    pub(crate) fn put_item(&mut self, column: usize, applied: &Applied<'c>, count: Count<'_>) {
        let item = &applied.item;
        let reason = self.render_reason(column, &applied.reason);
        let row = self.row_of(item);
        let sight = if item.state == State::Manual {
            Sight { how: Arrival::Manual, ..skipped_sight(reason) }
        } else {
            self.sight_of_item(column, item, reason, count)
        };
        if item.state == State::Active {
            self.told[column].entry(Text::from_content(item.content)).or_insert(row);
        }
        self.items[row].seen[column] = sight;
    }

    fn sight_of_item(
        &self,
        column: usize,
        item: &Item<'c>,
        reason: String,
        count: Count<'_>,
    ) -> Sight {
        let (how, delivery) = match item.state {
            State::Active => (Arrival::Delivered, &self.viewers[column].delivery),
            _ => (Arrival::Listed, &self.viewers[column].delivery),
        };
        let tokens = item_cost(item, count);
        match delivery.missing_hook() {
            None => Sight { how, tokens, ..skipped_sight(reason) },
            Some(missing) => Sight {
                how: Arrival::Missing,
                cause: Some(missing.cause),
                tokens,
                ..skipped_sight(match self.words {
                    ReasonWords::Written => delivery.missing_reason().unwrap_or_default(),
                    ReasonWords::Skipped => String::new(),
                })
            },
        }
    }

    /// Puts in an item that a look at single files has found, unless the column knows better.
    pub(crate) fn add_item(&mut self, column: usize, item: &Item<'c>, count: Count<'_>) {
        let row = self.row_of(item);
        let known = self.items[row].seen[column].how;
        if item.state == State::Manual || !matches!(known, Arrival::Skipped | Arrival::Manual) {
            return;
        }
        let told = self.told[column].get(&Text::from_content(item.content)).copied();
        if let Some(other) = told.filter(|&other| other != row && item.state == State::Active) {
            let SeenItem { dialect, path, line, .. } = self.items[other];
            self.same.insert((row, column), Origin { dialect, path, line });
            let reason = self.render_reason(
                column,
                &Reason::SameText { origin: Origin { dialect, path, line } },
            );
            self.items[row].seen[column] = Sight { how: Arrival::Same, ..skipped_sight(reason) };
            return;
        }
        self.put_item(column, &Applied::new(item.clone(), Reason::Listed), count);
    }

    fn put_decision(&mut self, column: usize, bound: &BindingDecision<'c>) {
        let BindingDecision { decision, path, .. } = *bound;
        let name = Name::Entry { list: "decisions", index: decision.index };
        let directory = path.parent().unwrap_or(path);
        let level = Level::of_directory(directory, !decision.pattern_spans.is_empty());
        let (kind, line) = ("decision", decision.line);
        let content = decision.decision.as_str();
        let row = self.ensure_row((structured::NAME, path, line, name), kind, level, content);
        let reason = match (self.words, self.viewers[column].delivery.missing_hook()) {
            (ReasonWords::Skipped, _) => "",
            (_, None) => {
                "the hook delivers it when the client reports a plan; `brief context --decisions` shows it"
            }
            (_, Some(_)) => "`brief context --decisions` shows it",
        };
        self.items[row].seen[column] = Sight { how: Arrival::Manual, ..skipped_sight(reason) };
    }

    /// Puts a candidate that is left out into a client's column.
    pub(crate) fn put_left_out(&mut self, column: usize, left_out: &LeftOut<'c>, count: Count<'_>) {
        let &LeftOut { dialect, kind, name, path, line, level, content, .. } = left_out;
        let row = self.ensure_row((dialect, path, line, name), kind, level, content);
        let reason = self.render_reason(column, &left_out.reason);
        let sight = match left_out.reason {
            Reason::LoadedByClient { part: LoadedPart::Whole, .. } => {
                Sight { how: Arrival::Loaded, tokens: count(content), ..skipped_sight(reason) }
            }
            Reason::LoadedByClient { .. } => {
                let tokens = count(&name.to_string()) + count(content);
                Sight { how: Arrival::Listed, tokens, ..skipped_sight(reason) }
            }
            Reason::SameText { origin } | Reason::SameTextLoaded { origin, .. } => {
                self.same.insert((row, column), origin);
                Sight { how: Arrival::Same, ..skipped_sight(reason) }
            }
            _ => skipped_sight(reason),
        };
        if sight.how != Arrival::Same {
            self.same.remove(&(row, column));
        }
        self.items[row].seen[column] = sight;
    }

    fn row_of(&mut self, item: &Item<'c>) -> usize {
        let &Item { dialect, kind, name, path, line, level, content, .. } = item;
        self.ensure_row((dialect, path, line, name), kind, level, content)
    }

    fn ensure_row(
        &mut self,
        key: RowKey<'c>,
        kind: &'static str,
        level: Level,
        content: &'c str,
    ) -> usize {
        let next = self.items.len();
        let row = *self.rows.entry(key).or_insert(next);
        if row == next {
            let (dialect, path, line, name) = key;
            // A client that does not get to an item at all does not have it.
            let reason = match self.words {
                ReasonWords::Written => "is not for this client".to_owned(),
                ReasonWords::Skipped => String::new(),
            };
            let seen = vec![skipped_sight(reason); self.viewers.len()];
            let tokens = 0;
            self.items.push(SeenItem {
                dialect,
                kind,
                name,
                path,
                line,
                tokens,
                seen,
                level,
                content,
            });
        } else if self.items[row].content.len() < content.len() {
            // To some clients an item is its description.
            self.items[row].content = content;
        }
        row
    }

    fn render_reason(&self, column: usize, reason: &Reason<'_>) -> String {
        match self.words {
            ReasonWords::Written => {
                let target = self.viewers[column].moment.target.as_ref();
                let about = target.map(Target::slashed).unwrap_or_default();
                reason.display_with_path(about).seen_from(self.root).to_string()
            }
            ReasonWords::Skipped => String::new(),
        }
    }

    /// Ends the table: what is `same` names a row that says what the client has, and sums are those of the rows.
    pub(crate) fn finish(mut self, count: Count<'_>) -> Sees<'c> {
        for column in 0..self.viewers.len() {
            self.leave_out_loaded(column);
        }
        let mut same: Vec<((usize, usize), Option<usize>)> = Vec::new();
        let places = self.rows_by_path();
        for &(row, column) in self.same.keys() {
            same.push(((row, column), self.find_origin(&places, row, column)));
        }
        for ((row, column), origin) in same {
            let same_as = origin.map(|origin| self.same_place(&places, origin));
            let sight = &mut self.items[row].seen[column];
            // What names nothing that the client has is not there.
            sight.how = if same_as.is_some() { Arrival::Same } else { Arrival::Skipped };
            sight.same_as = same_as;
        }
        let mut items = self.items;
        let mut totals = vec![Total::default(); self.viewers.len()];
        for item in &mut items {
            item.tokens = item.seen.iter().map(|sight| sight.tokens).max().unwrap_or_default();
            if item.tokens == 0 {
                item.tokens = count(item.content);
            }
            item.seen.iter().zip(&mut totals).for_each(|(sight, total)| total.add_sight(sight));
        }
        items.sort_by(|left, right| {
            (left.level, left.path, left.line).cmp(&(right.level, right.path, right.line))
        });
        Sees { items, totals }
    }

    /// Marks texts that would be delivered while the client has them itself, wherever it found them.
    fn leave_out_loaded(&mut self, column: usize) {
        if self.told[column].is_empty() {
            return;
        }
        let mut loaded: HashMap<Text<'c>, usize> = HashMap::new();
        for (row, item) in self.items.iter().enumerate() {
            if item.seen[column].how == Arrival::Loaded && !item.content.trim().is_empty() {
                loaded.entry(Text::from_content(item.content)).or_insert(row);
            }
        }
        let told: Vec<(usize, usize)> = self.told[column]
            .iter()
            .filter_map(|(text, &row)| Some((row, *loaded.get(text)?)))
            .filter(|(row, other)| row != other)
            .collect();
        for (row, other) in told {
            if matches!(self.items[row].seen[column].how, Arrival::Delivered | Arrival::Missing) {
                let SeenItem { dialect, path, line, .. } = self.items[other];
                let origin = Origin { dialect, path, line };
                let client = self.viewers[column].client.as_str();
                let reason = self.render_reason(column, &Reason::SameTextLoaded { client, origin });
                self.same.insert((row, column), origin);
                self.items[row].seen[column] = skipped_sight(reason);
            }
        }
    }

    /// Returns the rows by file and line. An installed item has another dialect than its file.
    fn rows_by_path(&self) -> HashMap<&'c Path, Vec<usize>> {
        let mut places: HashMap<&'c Path, Vec<usize>> = HashMap::new();
        for (row, item) in self.items.iter().enumerate() {
            places.entry(item.path).or_default().push(row);
        }
        places
    }

    /// Follows `same` to the row that says what the client has.
    fn find_origin(
        &self,
        places: &HashMap<&'c Path, Vec<usize>>,
        row: usize,
        column: usize,
    ) -> Option<usize> {
        let mut at = row;
        for _ in 0..self.items.len() {
            let Some(origin) = self.same.get(&(at, column)) else {
                let is_there = self.items[at].seen[column].how != Arrival::Skipped;
                return (is_there && at != row).then_some(at);
            };
            let text = Text::from_content(self.items[at].content);
            let rows = places.get(origin.path)?.iter().copied();
            let mut rows: Vec<usize> =
                rows.filter(|&row| row != at && self.items[row].line == origin.line).collect();
            rows.sort_by_key(|&row| Text::from_content(self.items[row].content) != text);
            at = *rows.first()?;
        }
        None
    }

    fn same_place(&self, places: &HashMap<&'c Path, Vec<usize>>, row: usize) -> SamePlace {
        let SeenItem { path, line, .. } = self.items[row];
        let is_one_of_many = places.get(path).is_some_and(|rows| rows.len() > 1);
        SamePlace { path: path_below(self.root, path).into_owned(), line, is_one_of_many }
    }
}

/// Returns a sight of something that does not apply, to be filled in.
fn skipped_sight(reason: impl Into<String>) -> Sight {
    Sight { how: Arrival::Skipped, cause: None, same_as: None, reason: reason.into(), tokens: 0 }
}
