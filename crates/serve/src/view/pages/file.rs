//! A file or directory: what each client sees there, why, at what cost, and the briefing as a model gets it.

use std::collections::BTreeSet;
use std::path::Path;

use brief_engine::sees::{Arrival, SeenItem, Sees, Total, Viewer, asked_clients};
use brief_engine::tokens::Counter;
use brief_engine::{Action, Project, TargetKind, Timing};
use brief_profiles::OwnClients;
use brief_syntax::render::path_below;
use brief_system::{Files, Remembered};
use maud::{Markup, html};

use super::super::address::{FileQuestion, PageAddress};
use super::super::layout::Column::{Number, Words};
use super::super::layout::{
    Page, display_line, missing_notes, render_arrival, render_link, render_number, render_table,
    render_table_head, text_block,
};
use super::project::way_to;
use super::{PageContext, ROWS};
use crate::hook::{HookOptions, rehearse_conversation};
use brief_workflows::delivery::find_viewers;
use brief_workflows::picture::render_bar;

pub(super) fn render_file_page(
    asked: &PageContext<'_>,
    path: &str,
    question: &FileQuestion,
) -> Page {
    let system = Remembered::new(std::sync::Arc::clone(&asked.view.system));
    let title = if path.is_empty() { "./" } else { path };
    let Ok(project) = Project::open(&system, &asked.view.directory) else {
        return create_missing_page(asked, title);
    };
    let root = project.root().path();
    let Some(target) = project.locate(&root.join(path)) else {
        return create_missing_page(asked, title);
    };
    let is_there = Files::resolve(&system, &root.join(path)).is_ok();
    let is_directory = target.kind() == TargetKind::Directory;
    let clients = match asked_clients(&system, root, question.clients.clone()) {
        Ok(clients) => clients,
        Err(error) => {
            return Page::missing(
                "Unknown client",
                html! {
                    h1 { "Unknown client" }
                    p { (display_line(&error.to_string())) }
                    p { (render_link(asked.links, &PageAddress::file(path), html! { "Show the clients of this project" })) }
                },
            );
        }
    };
    let mut request = project.briefing(root.join(path));
    (request.moment.action, request.moment.timing) = (question.action, question.timing);
    let catalog = request.read_catalog();
    let viewers = find_viewers(&system, root, &request.moment, &clients);
    let counter = Counter::estimate();
    let sees = Sees::from_catalog(&catalog, root, &viewers, &|text: &str| counter.count(text));
    let answer = FileAnswer { asked, path, question, root, viewers: &viewers, sees: &sees };
    Page::new(
        title,
        html! {
            h1 { (display_line(title)) }
            (way_to(asked, path))
            @if !is_there {
                p class="note" { "This file does not exist yet. An agent that creates it gets:" }
            }
            @if is_directory && !path.is_empty() {
                p { (render_link(asked.links, &PageAddress::directory(target.slashed()), html! { "Token costs in this directory" })) }
            }
            @if asked.links.is_served() { (answer.render_switches(&system)) }
            (answer.render_comparison())
            (answer.left_out())
            @if !is_directory { (answer.render_briefing(&system)) }
        },
    )
}

fn create_missing_page(asked: &PageContext<'_>, path: &str) -> Page {
    let heading = html! { code { (display_line(path)) } " is not in this project" };
    Page::not_found(
        asked.links,
        &heading,
        "It was removed, or a symlink points outside the project.",
    )
}

/// The number of left out items on an exported page.
const EXPORTED_SKIPPED: usize = 10;

struct FileAnswer<'a> {
    asked: &'a PageContext<'a>,
    path: &'a str,
    question: &'a FileQuestion,
    root: &'a Path,
    viewers: &'a [Viewer],
    sees: &'a Sees<'a>,
}

impl FileAnswer<'_> {
    fn address_with(&self, question: FileQuestion) -> PageAddress {
        PageAddress::File { path: self.path.to_owned(), question }
    }

    fn render_switch<T: Copy + PartialEq>(
        &self,
        label: &str,
        choices: &[(&str, T)],
        now: T,
        choose: impl Fn(T) -> FileQuestion,
    ) -> Markup {
        html! {
            nav class="switch" aria-label=(label) {
                span aria-hidden="true" { (label) }
                ul {
                    @for (name, choice) in choices {
                        li {
                            a href=[self.asked.links.link_to_page(&self.address_with(choose(*choice)))]
                                aria-current=[(*choice == now).then_some("true")] { (name) }
                        }
                    }
                }
            }
        }
    }

    /// The switches: action, timing, clients.
    fn render_switches(&self, system: &Remembered) -> Markup {
        let question = self.question;
        let actions = [
            ("any", None),
            ("read", Some(Action::Read)),
            ("edit", Some(Action::Edit)),
            ("create", Some(Action::Create)),
        ];
        let timings =
            [("any", None), ("before", Some(Timing::Before)), ("after", Some(Timing::After))];
        let known = OwnClients::read_project(system, self.root).known_clients();
        html! {
            div class="switches" {
                (self.render_switch("Action", &actions, question.action, |action| FileQuestion { action, ..question.clone() }))
                (self.render_switch("Timing", &timings, question.timing, |timing| FileQuestion { timing, ..question.clone() }))
                details id="choose-clients" {
                    summary { "Clients" }
                    form method="get" action=[self.asked.links.link_to_page(&PageAddress::file(self.path))] {
                        fieldset {
                            legend { "Compare these clients" }
                            @for client in known.names() {
                                label {
                                    input type="checkbox" name="client" value=(client)
                                        checked[self.viewers.iter().any(|one| one.client == client)];
                                    " " (client)
                                }
                            }
                        }
                        @if let Some(action) = question.action { input type="hidden" name="on" value=(action.as_str()); }
                        @if let Some(timing) = question.timing { input type="hidden" name="when" value=(timing.as_str()); }
                        button type="submit" { "Show" }
                    }
                }
            }
        }
    }

    fn render_name(&self, item: &SeenItem<'_>) -> Markup {
        let place = path_below(self.root, item.path);
        let name = item.name.to_string();
        html! {
            (self.asked.item_link(&place, &name, html! { (display_line(&name)) }))
            br; small class="path" { (display_line(&place)) ":" (item.line) }
        }
    }

    /// The items that apply for any client, clients side by side.
    fn render_comparison(&self) -> Markup {
        let Sees { items, totals } = self.sees;
        let rows: Vec<&SeenItem<'_>> = items.iter().filter(|item| !item.is_skipped()).collect();
        if rows.is_empty() {
            return html! {
                p { "No guidance applies to this path." }
                p { "To add some, run " code { "brief registry new rule NAME" } ", or add an entry to " code { "AGENTS.yaml" } "." }
            };
        }
        let most = rows.iter().map(|item| item.tokens).max().unwrap_or_default();
        html! {
            section aria-labelledby="sees" {
                h2 id="sees" { "What each client gets" }
                (missing_notes(self.viewers, |column| totals.get(column).is_some_and(|total| total.missing > 0)))
                (render_table("What each client gets", html! {
                    (render_table_head([Words("item"), Number("tokens"), Words("cost")].into_iter().chain(self.viewers.iter().map(|viewer| Words(&viewer.client)))))
                    tbody {
                        @for item in rows.iter().take(ROWS * 5) {
                            tr data-place={ (display_line(&path_below(self.root, item.path))) ":" (item.line) } {
                                th scope="row" { (self.render_name(item)) }
                                td class="number" { (render_number(item.tokens)) }
                                td class="bars" { (render_bar(item.tokens, most)) }
                                @for (viewer, sight) in self.viewers.iter().zip(&item.seen) {
                                    td data-client=(viewer.client) data-how=(sight.how.as_str()) {
                                        (render_arrival(sight)) br; small { (display_line(&sight.reason)) }
                                    }
                                }
                            }
                        }
                    }
                    tfoot {
                        @for (part, (name, _)) in Total::default().parts().into_iter().enumerate() {
                            tr data-total=(name) {
                                th scope="row" { "tokens " (name) }
                                td {} td {}
                                @for (viewer, total) in self.viewers.iter().zip(totals) {
                                    td data-client=(viewer.client) { (render_number(total.parts()[part].1)) }
                                }
                            }
                        }
                    }
                }))
                @if rows.len() > ROWS * 5 {
                    p { (render_number(rows.len() - ROWS * 5)) " more; run " code { "brief show --json" } " to see all." }
                }
            }
        }
    }

    /// The items that apply for none of the clients.
    fn left_out(&self) -> Markup {
        let skipped: Vec<&SeenItem<'_>> =
            self.sees.items.iter().filter(|item| item.is_skipped()).collect();
        if skipped.is_empty() {
            return html! {};
        }
        // An export has such a page for many directories.
        let most = if self.asked.links.is_served() { ROWS } else { EXPORTED_SKIPPED };
        html! {
            section aria-labelledby="left-out" {
                h2 id="left-out" { "Skipped" }
                details id="skipped" {
                    summary { (render_number(skipped.len())) " items that apply to none of these clients" }
                    ul {
                        @for item in skipped.iter().take(most) {
                            li {
                                (self.render_name(item))
                                @let reasons: BTreeSet<&str> = item.seen.iter().map(|sight| sight.reason.as_str()).collect();
                                ul { @for reason in reasons { li { (display_line(reason)) } } }
                            }
                        }
                    }
                    @if skipped.len() > most {
                        p { (render_number(skipped.len() - most)) " more; run " code { "brief why" } " to see all." }
                    }
                }
            }
        }
    }

    /// The briefing as the model of one client gets it, event by event.
    fn render_briefing(&self, system: &Remembered) -> Markup {
        let known = OwnClients::read_project(system, self.root).known_clients();
        let clients: Vec<&String> = self.viewers.iter().map(|viewer| &viewer.client).collect();
        let has_hook =
            |client: &&&String| known.find_client(client).is_some_and(|one| one.hook.is_some());
        let with_hook: Vec<&String> = clients.iter().filter(has_hook).copied().collect();
        let reader = self.question.reader.as_ref().filter(|one| clients.contains(one));
        let Some(reader) = reader.or(with_hook.first().copied()) else {
            return html! {};
        };
        let action = self.question.action.unwrap_or(Action::Read);
        let client = known.find_client(reader);
        let told = client.map(|client| {
            let path = self.root.join(self.path);
            rehearse_conversation(
                system,
                client,
                self.root,
                (&path, action),
                HookOptions::new(&client.id),
            )
        });
        let is_loaded = |how: Arrival| matches!(how, Arrival::Loaded | Arrival::Listed);
        let column = clients.iter().position(|client| *client == reader);
        let loads_any = column.is_some_and(|column| {
            let mut sights = self.sees.items.iter().filter_map(|item| item.seen.get(column));
            sights.any(|sight| is_loaded(sight.how))
        });
        let missing = column
            .and_then(|column| self.viewers.get(column))
            .and_then(|viewer| viewer.delivery.missing_reason());
        html! {
            section aria-labelledby="briefing" {
                h2 id="briefing" { "What the model reads" }
                @if self.asked.links.is_served() && with_hook.len() > 1 {
                    nav class="switch" aria-label="Client" {
                        ul {
                            @for client in &with_hook {
                                li {
                                    a href=[self.asked.links.link_to_page(&self.address_with(FileQuestion { reader: Some((*client).clone()), ..self.question.clone() }))]
                                        aria-current=[(*client == reader).then_some("true")] { (client) }
                                }
                            }
                        }
                    }
                }
                p { "In a new conversation, " strong { (reader) } " performs one action on the file: " strong { (action.as_str()) } "." }
                @if let Some(missing) = missing {
                    p class="note" { "A working hook would deliver this. Nothing is delivered now: " (display_line(&missing)) "." }
                }
                @match told {
                    Some(Ok(events)) => {
                        @for event in events.iter().filter(|event| event.text.is_some()) {
                            h3 { (event.event) @if event.holds { ", the call is blocked once" } }
                            (text_block(event.text.as_deref().unwrap_or_default()))
                        }
                        @if events.iter().all(|event| event.text.is_none()) {
                            p {
                                "The hook delivers nothing"
                                @if loads_any { "; the client loads the rest itself" }
                                "."
                            }
                        }
                    }
                    Some(Err(error)) => p { (display_line(&error.to_string())) },
                    None => p { "This client has no hook." },
                }
            }
        }
    }
}
