//! Pictures of costs as SVG: a treemap of directories, and bars.
//!
//! Places are shares of the width and the height, so that a page of any width shows letters of the same size. The
//! same drawing goes into a page and into a file of its own.

use brief_engine::ProjectFiles;
use brief_engine::survey::SurveyedItem;
use brief_syntax::text::{group_digits, visible_line};
use maud::{Markup, PreEscaped, Render, html};

/// The limit for the areas of a treemap; the rest becomes one.
const MOST_AREAS: usize = 36;

/// The limit for the bars of a picture.
const MOST_BARS: usize = 20;

/// The size of a picture in a file.
const WIDTH: f64 = 960.0;
const HEIGHT: f64 = 480.0;

/// The height of a bar with its line, in a file.
const ROW: f64 = 28.0;

const SHADES: usize = 5;

/// The colors of a picture in a file, light and dark. A page has its own.
const STYLE: &str = "text{font:13px system-ui,sans-serif;fill:#1a1a1a}\
.shade-0{fill:#eef3f8}.shade-1{fill:#d3e3f3}.shade-2{fill:#b3d0ec}.shade-3{fill:#93bde5}.shade-4{fill:#74aadd}\
.edge{stroke:#fff;stroke-width:2}.bar{fill:#3b7fc4}.ground{fill:#fff}\
@media(prefers-color-scheme:dark){text{fill:#f0f0f0}.ground{fill:#16191d}\
.shade-0{fill:#20262c}.shade-1{fill:#213346}.shade-2{fill:#22405f}.shade-3{fill:#224d78}.shade-4{fill:#235a91}\
.edge{stroke:#16191d}.bar{fill:#5b9bd9}}";

/// A part of a directory: a directory in it, or the files that lie in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DirectoryPart {
    /// The directory, `/`-separated below the root; `None` for the files of the directory itself.
    pub path: Option<String>,
    pub name: String,
    /// The number of files, those further down included.
    pub files: usize,
    /// The tokens that all files get, one after the other.
    pub sum: usize,
    /// The tokens of the file that gets least.
    pub least: usize,
    /// The tokens of the file that gets most.
    pub most: usize,
}

impl DirectoryPart {
    /// Returns the tokens that a file gets on the average.
    pub fn mean_tokens(&self) -> usize {
        self.sum / self.files.max(1)
    }

    fn empty(path: Option<String>, name: &str) -> DirectoryPart {
        let name = name.to_owned();
        DirectoryPart { path, name, files: 0, sum: 0, least: usize::MAX, most: 0 }
    }

    /// Returns the parts of a directory, those with the largest sums first. `costs` are the tokens of each file.
    pub fn collect_parts(
        files: &ProjectFiles,
        costs: &[usize],
        directory: &str,
    ) -> Vec<DirectoryPart> {
        let places = files.places_below(directory);
        let skipped = if directory.is_empty() { 0 } else { directory.len() + 1 };
        let mut parts: Vec<DirectoryPart> = Vec::new();
        let mut own: Option<DirectoryPart> = None;
        let files = files.files.get(places.clone()).unwrap_or_default();
        for (path, &cost) in files.iter().zip(costs.get(places).unwrap_or_default()) {
            let rest = path.get(skipped..).unwrap_or_default();
            let part = match rest.split_once('/') {
                None => own.get_or_insert_with(|| DirectoryPart::empty(None, "files here")),
                Some((name, _)) => {
                    // Sorted paths have the files of a directory together.
                    match parts.last_mut() {
                        Some(part) if part.name == name => part,
                        _ => {
                            let path = path.get(..skipped + name.len()).map(str::to_owned);
                            parts.push_mut(DirectoryPart::empty(path, name))
                        }
                    }
                }
            };
            part.files += 1;
            part.sum += cost;
            part.least = part.least.min(cost);
            part.most = part.most.max(cost);
        }
        parts.extend(own);
        parts.sort_by(|left, right| right.sum.cmp(&left.sum).then(left.name.cmp(&right.name)));
        parts
    }
}

/// A part of the plane, in shares of its width and height.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Area {
    x: f64,
    y: f64,
    width: f64,
    height: f64,
}

/// Divides a plane by weights, largest first, so that the parts are as square as they can be (Bruls, Huizing, van Wijk:
/// Squarified Treemaps). `aspect` is the width of the plane divided by its height.
fn divide_plane(weights: &[f64], aspect: f64) -> Vec<Area> {
    let total: f64 = weights.iter().sum();
    if total <= 0.0 {
        return Vec::new();
    }
    // In a plane that is `aspect` wide and 1 high.
    let scale = aspect / total;
    let mut rest = Area { x: 0.0, y: 0.0, width: aspect, height: 1.0 };
    let mut areas = Vec::with_capacity(weights.len());
    let mut weights = weights;
    while !weights.is_empty() {
        let side = rest.width.min(rest.height).max(f64::EPSILON);
        let mut taken = 1;
        let worst = |count: usize| -> f64 {
            let row = &weights[..count];
            let sum: f64 = row.iter().sum::<f64>() * scale;
            let thickness = sum / side;
            let ratio = |weight: &f64| {
                let length = (weight * scale / thickness.max(f64::EPSILON)).max(f64::EPSILON);
                (length / thickness).max(thickness / length)
            };
            row.iter().map(ratio).fold(0.0, f64::max)
        };
        while taken < weights.len() && worst(taken + 1) <= worst(taken) {
            taken += 1;
        }
        let (row, others) = weights.split_at(taken);
        let sum: f64 = row.iter().sum::<f64>() * scale;
        let thickness = sum / side;
        let is_wide = rest.width >= rest.height;
        let mut offset = 0.0;
        for weight in row {
            let length = weight * scale / thickness.max(f64::EPSILON);
            let area = if is_wide {
                Area { x: rest.x, y: rest.y + offset, width: thickness, height: length }
            } else {
                Area { x: rest.x + offset, y: rest.y, width: length, height: thickness }
            };
            areas.push(Area { x: area.x / aspect, width: area.width / aspect, ..area });
            offset += length;
        }
        if is_wide {
            rest = Area { x: rest.x + thickness, width: (rest.width - thickness).max(0.0), ..rest };
        } else {
            rest =
                Area { y: rest.y + thickness, height: (rest.height - thickness).max(0.0), ..rest };
        }
        weights = others;
    }
    areas
}

/// A share as SVG writes it, with two digits.
struct Percent(f64);

impl Render for Percent {
    fn render(&self) -> Markup {
        PreEscaped(format!("{:.2}%", self.0 * 100.0))
    }
}

#[expect(clippy::cast_precision_loss, reason = "a picture shows three digits at most")]
fn to_float(number: usize) -> f64 {
    number as f64
}

fn shade_index(value: usize, most: usize) -> usize {
    if most == 0 { 0 } else { (value * (SHADES - 1)).div_ceil(most).min(SHADES - 1) }
}

/// Draws the parts of a directory: an area is as large as the tokens of all its files, and as dark as the tokens that a
/// file gets. `link` returns the address of a part.
pub fn render_treemap(
    parts: &[DirectoryPart],
    link: &dyn Fn(&DirectoryPart) -> Option<String>,
) -> Markup {
    let (shown, others) = parts.split_at(parts.len().min(MOST_AREAS));
    let mut shown: Vec<DirectoryPart> = shown.iter().filter(|part| part.sum > 0).cloned().collect();
    let (files, sum) = others.iter().fold((0, 0), |(f, s), part| (f + part.files, s + part.sum));
    if sum > 0 {
        let least = others.iter().map(|part| part.least).min().unwrap_or_default();
        let most = others.iter().map(|part| part.most).max().unwrap_or_default();
        let name = format!("{} more", others.len());
        shown.push(DirectoryPart { path: None, name, files, sum, least, most });
        shown.sort_by(|left, right| right.sum.cmp(&left.sum).then(left.name.cmp(&right.name)));
    }
    let weights: Vec<f64> = shown.iter().map(|part| to_float(part.sum)).collect();
    let areas = divide_plane(&weights, WIDTH / HEIGHT);
    let most = shown.iter().map(DirectoryPart::mean_tokens).max().unwrap_or_default();
    html! {
        @for (part, area) in shown.iter().zip(&areas) {
            @let tile = html! {
                svg x=(Percent(area.x)) y=(Percent(area.y)) width=(Percent(area.width)) height=(Percent(area.height)) {
                    title { (describe_part(part)) }
                    rect class={ "edge shade-" (shade_index(part.mean_tokens(), most)) } width="100%" height="100%" {}
                    text x="8" y="20" { (visible_line(&part.name)) @if part.path.is_some() { "/" } }
                    text x="8" y="38" { (group_digits(part.mean_tokens() as u64)) " tokens" }
                }
            };
            @match link(part) {
                Some(address) => a href=(address) aria-label=(describe_part(part)) { (tile) },
                None => (tile),
            }
        }
    }
}

/// Describes a part; the description begins with the words of the picture.
fn describe_part(part: &DirectoryPart) -> String {
    let [mean, least, most, files] = [part.mean_tokens(), part.least, part.most, part.files]
        .map(|number| group_digits(number as u64));
    let slash = if part.path.is_some() { "/" } else { "" };
    let plural = if part.files == 1 { "" } else { "s" };
    let name = visible_line(&part.name);
    format!("{name}{slash} {mean} tokens: a file gets {least} to {most}; {files} file{plural}")
}

/// Draws one bar for the share of `value` in `most`.
pub fn render_bar(value: usize, most: usize) -> Markup {
    let share = if most == 0 { 0.0 } else { to_float(value.min(most)) / to_float(most) };
    // A cost above zero is visible.
    let share = if value > 0 { share.max(0.01) } else { share };
    html! {
        svg class="bars" width="100%" height="10" aria-hidden="true" focusable="false" {
            rect class="bar" width=(Percent(share)) height="100%" {}
        }
    }
}

fn render_document(height: f64, title: &str, drawing: &Markup) -> String {
    let drawn = html! {
        svg xmlns="http://www.w3.org/2000/svg" width=(WIDTH) height=(height) role="img" aria-label=(title) {
            style { (PreEscaped(STYLE)) }
            rect class="ground" width="100%" height="100%" {}
            (drawing)
        }
    };
    format!("{}\n", drawn.into_string())
}

/// Returns a treemap of a directory as a file.
pub fn treemap_file(parts: &[DirectoryPart]) -> String {
    let title = "Tokens that files of each directory get";
    render_document(HEIGHT, title, &render_treemap(parts, &|_| None))
}

/// Returns the most expensive items as bars in a file. `items` are sorted.
pub fn bars_file(items: &[SurveyedItem<'_>]) -> String {
    let rows: Vec<(String, usize)> = items
        .iter()
        .take(MOST_BARS)
        .map(|surveyed| (surveyed.item.name.to_string(), surveyed.tokens))
        .collect();
    let most = rows.iter().map(|(_, tokens)| *tokens).max().unwrap_or_default();
    let drawing = html! {
        @for (index, (name, tokens)) in rows.iter().enumerate() {
            @let y = to_float(index) * ROW;
            svg y=(y) width="100%" height=(ROW) {
                svg x="8" width="40%" height="100%" { text y="19" { (visible_line(name)) } }
                svg x="42%" width="46%" height="100%" {
                    rect class="bar" y="6" height="16"
                        width=(Percent(to_float(*tokens) / to_float(most.max(1)))) {}
                }
                text x="89%" y="19" { (group_digits(*tokens as u64)) }
            }
        }
    };
    render_document(
        (to_float(rows.len()) * ROW).max(ROW),
        "Tokens of the most expensive items",
        &drawing,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files() -> ProjectFiles {
        let files = ["a/b/x", "a/c", "b/x", "b.txt", "z"].map(str::to_owned);
        let mut files = files.to_vec();
        files.sort();
        ProjectFiles { files, directories: vec!["a".into(), "a/b".into(), "b".into()] }
    }

    #[test]
    fn a_directory_is_the_sum_of_its_parts() {
        let files = files();
        assert_eq!(files.files, ["a/b/x", "a/c", "b.txt", "b/x", "z"]);
        let parts = DirectoryPart::collect_parts(&files, &[1, 2, 4, 8, 16], "");
        let of = |part: &DirectoryPart| {
            (part.name.clone(), part.path.clone(), part.files, part.sum, part.least, part.most)
        };
        assert_eq!(
            parts.iter().map(of).collect::<Vec<_>>(),
            [
                ("files here".into(), None, 2, 20, 4, 16),
                ("b".into(), Some("b".into()), 1, 8, 8, 8),
                ("a".into(), Some("a".into()), 2, 3, 1, 2),
            ]
        );
        let inner = DirectoryPart::collect_parts(&files, &[1, 2, 4, 8, 16], "a");
        assert_eq!(inner.iter().map(|part| part.sum).collect::<Vec<_>>(), [2, 1]);
        assert_eq!(inner[1].path.as_deref(), Some("a/b"));
    }

    /// Areas fill the plane, are as large as their weights, and lie inside it.
    #[test]
    fn areas_are_as_large_as_their_weights() {
        let weights = [60.0, 60.0, 40.0, 30.0, 20.0, 10.0, 0.5];
        let areas = divide_plane(&weights, 2.0);
        let total: f64 = weights.iter().sum();
        for (area, weight) in areas.iter().zip(weights) {
            assert!((area.width * area.height - weight / total).abs() < 1e-9);
            assert!(area.x >= 0.0 && area.x + area.width <= 1.0 + 1e-9);
            assert!(area.y >= 0.0 && area.y + area.height <= 1.0 + 1e-9);
        }
        for (index, one) in areas.iter().enumerate() {
            for other in &areas[index + 1..] {
                let is_apart = one.x + one.width <= other.x + 1e-9
                    || other.x + other.width <= one.x + 1e-9
                    || one.y + one.height <= other.y + 1e-9
                    || other.y + other.height <= one.y + 1e-9;
                assert!(is_apart, "{one:?} {other:?}");
            }
        }
        assert!(divide_plane(&[], 2.0).is_empty() && divide_plane(&[0.0], 2.0).is_empty());
    }

    #[test]
    fn names_are_text_in_a_picture() {
        let part = DirectoryPart {
            path: Some("x".into()),
            name: "<script>\u{202e}".into(),
            files: 1,
            sum: 1,
            least: 1,
            most: 1,
        };
        let drawn = treemap_file(&[part]);
        assert!(drawn.contains("&lt;script&gt;\\u{202e}"), "{drawn}");
        assert!(!drawn.contains("<script"));
    }
}
