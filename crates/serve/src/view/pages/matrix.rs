//! Items and clients: how each client comes to each item of the whole project.

use brief_engine::sees::Arrival;
use maud::html;

use super::super::address::PageAddress;
use super::super::layout::Column::{Number, Words};
use super::super::layout::{
    Page, Paged, display_line, missing_notes, render_arrival, render_number, render_table,
    render_table_head,
};
use super::super::snapshot::MatrixRow;
use super::{PageContext, ROWS};

pub(super) fn render_matrix_page(asked: &PageContext<'_>, page: usize) -> Page {
    let snapshot = asked.snapshot;
    let (skipped, applied): (Vec<&MatrixRow>, Vec<&MatrixRow>) =
        snapshot.matrix.iter().partition(|row| row.is_skipped());
    let rows: Vec<&MatrixRow> = applied.into_iter().chain(skipped).collect();
    let paged = Paged::from_list(&rows, page, ROWS);
    Page::new(
        "Matrix",
        html! {
            h1 { "Items and clients" }
            p { "How each client gets each item in the project." }
            (missing_notes(&snapshot.viewers, |column| {
                let sights = snapshot.matrix.iter().filter_map(|row| row.seen.get(column));
                sights.into_iter().any(|sight| sight.how == Arrival::Missing)
            }))
            @if rows.is_empty() { p { "No items found. Run " code { "brief init" } " to create the first." } }
            @else {
                (render_table("Items and clients", html! {
                    (render_table_head([Words("item"), Number("tokens")].into_iter().chain(snapshot.clients.iter().map(|client| Words(client)))))
                    tbody {
                        @for row in paged.rows {
                            tr data-place={ (display_line(&row.place)) ":" (row.line) } {
                                th scope="row" {
                                    (asked.item_link(&row.place, &row.name, html! { (display_line(&row.name)) }))
                                    " " small { (row.kind) }
                                    br; small class="path" { (display_line(&row.place)) ":" (row.line) }
                                }
                                td class="number" { (render_number(row.tokens)) }
                                @for (client, sight) in snapshot.clients.iter().zip(&row.seen) {
                                    td data-client=(client) data-how=(sight.how.as_str()) title=(display_line(&sight.reason)) { (render_arrival(sight)) }
                                }
                            }
                        }
                    }
                }))
                (paged.render_neighbor_links(asked.links, &|page| PageAddress::Matrix { page }))
            }
        },
    )
}
