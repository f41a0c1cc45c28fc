//! Mentions that name nothing.

use std::path::Path;
use std::sync::Arc;

use brief_syntax::{Diagnostic, Source, Span, near_miss, rules};

use super::Briefing;

impl Briefing {
    /// Returns a warning for each mention that is neither the name nor the path of an item here.
    pub(super) fn unknown_mentions(&self) -> Vec<Diagnostic> {
        let unknown = self.moment.mentions.iter().filter(|mention| !self.is_known_mention(mention));
        unknown.map(|mention| self.unknown_mention(mention)).collect()
    }

    fn is_known_mention(&self, mention: &str) -> bool {
        let mention = mention.strip_prefix('@').unwrap_or(mention);
        let way = ["./", "~/", "~\\"].iter().find_map(|start| mention.strip_prefix(start));
        let way = Path::new(way.unwrap_or(mention));
        let is_this = |name: &str, path: &Path| {
            name == mention
                || path.ends_with(way)
                || path.with_extension("").ends_with(way)
                || path.parent().is_some_and(|parent| parent.ends_with(way))
        };
        !mention.is_empty()
            && (self.items().into_iter().any(|item| is_this(&item.name, &item.path))
                || self.left_out.iter().any(|out| is_this(&out.name, &out.path)))
    }

    fn unknown_mention(&self, mention: &str) -> Diagnostic {
        let source = Arc::new(Source::new("(the query)", format!("--mention {mention}")));
        let items = self.items();
        let names: Vec<&str> = items.iter().map(|item| item.name.as_str()).collect();
        // A text answer shows the message alone.
        let near = match near_miss::find_nearest(mention.trim_start_matches('@'), &names) {
            Some(near) => format!("; did you mean `{near}`?"),
            None => String::new(),
        };
        let message = format!("`{mention}` adds nothing: no item here has this name{near}");
        Diagnostic::new(rules::guidance::UNKNOWN_MENTION, &source, Span::default(), message)
            .with_help("run `brief context --all` to see the names of all items")
    }
}
