//! The guidance that clients see, as JSON, in the shape that other programs rely on.

use brief_dialects::Moment;
use brief_syntax::Target;
use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

use super::{SeenItem, Sees, Sight};
use crate::briefing::{PlaceReport, place_below};

/// The JSON form of [`Sees`].
#[derive(Debug)]
pub struct SeesReport<'r> {
    /// The question, without a client.
    pub moment: &'r Moment,
    /// The clients, in the order of the viewers.
    pub clients: &'r [String],
    /// The answer.
    pub sees: &'r Sees<'r>,
}

impl Serialize for SeesReport<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let SeesReport { moment, clients, sees } = *self;
        let items: Vec<_> =
            sees.items.iter().map(|item| seen_report(moment, clients, item)).collect();
        let totals = sees.totals.iter().map(|total| TotalReport {
            loaded: total.loaded,
            delivered: total.delivered,
            offered: total.offered,
        });
        let mut report = serializer.serialize_struct("Sees", 4)?;
        report.serialize_field("path", &moment.target.as_ref().map(Target::slashed))?;
        report.serialize_field("clients", clients)?;
        report.serialize_field("items", &items)?;
        report.serialize_field("totals", &ByClient(clients, totals.collect()))?;
        report.end()
    }
}

#[derive(Serialize)]
struct SeenReport<'r> {
    name: String,
    dialect: &'static str,
    kind: &'static str,
    source: PlaceReport<'r>,
    tokens: usize,
    seen: ByClient<'r, SightReport<'r>>,
}

#[derive(Serialize)]
struct SightReport<'r> {
    how: &'static str,
    reason: &'r str,
}

#[derive(Serialize)]
struct TotalReport {
    loaded: usize,
    delivered: usize,
    offered: usize,
}

/// Values by client.
struct ByClient<'r, T>(&'r [String], Vec<T>);

impl<T: Serialize> Serialize for ByClient<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().zip(&self.1))
    }
}

fn seen_report<'r>(
    moment: &Moment,
    clients: &'r [String],
    item: &'r SeenItem<'_>,
) -> SeenReport<'r> {
    let sight = |sight: &'r Sight| SightReport { how: sight.how.as_str(), reason: &sight.reason };
    SeenReport {
        name: item.name.to_string(),
        dialect: item.dialect,
        kind: item.kind,
        source: place_below(moment.root.path(), item.path, item.line),
        tokens: item.tokens,
        seen: ByClient(clients, item.seen.iter().map(sight).collect()),
    }
}
