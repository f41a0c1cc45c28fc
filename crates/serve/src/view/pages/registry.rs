//! The installed items: where they come from, their versions, what they may do, what differs on disk.

use brief_registry::install::{self, Drift, Newest, ProjectPaths};
use brief_registry::lock::Lock;
use brief_registry::manifest::ManifestPlace;
use maud::{Markup, html};

use super::super::layout::Column::Words;
use super::super::layout::{Page, display_line, render_number, render_table, render_table_head};
use super::PageContext;
use brief_workflows::revisions::short_id;

pub(super) fn render_registry_page(asked: &PageContext<'_>) -> Page {
    let system = asked.view.system.as_ref();
    let project = ProjectPaths::find_enclosing(system, &asked.snapshot.root);
    let main = match install::read_install_status(system, &project) {
        Err(error) => html! {
            p { "Cannot read the installed items: " (display_line(&error.to_string())) "." }
            p { "Fix " code { "brief.lock" } " or restore it from git, then run " code { "brief sync" } "." }
        },
        Ok(status) => match status.lock {
            None => html! {
                p { "Nothing is installed." }
                p { code { "brief add SOURCE" } " installs items from a registry; " code { "brief search WORD SOURCE" } " searches one." }
            },
            Some(lock) => html! {
                @if status.is_pending { p class="note" { "The last run was interrupted; run " code { "brief sync" } " to finish it." } }
                (render_sources(&lock, asked.view.extras.updates.as_deref()))
                (render_items(&lock, &status.drift))
                (render_packages(&lock))
            },
        },
    };
    Page::new("Registry", html! { h1 { "Installed items" } (main) })
}

fn render_manifest_place(place: &ManifestPlace) -> String {
    match place {
        ManifestPlace::Git { git, reference, subpath } => {
            let reference = reference.as_deref().map_or(String::new(), |at| format!("@{at}"));
            let below = subpath.as_deref().map_or(String::new(), |path| format!(" ({path})"));
            format!("{git}{reference}{below}")
        }
        ManifestPlace::Oci { oci, reference } => {
            let reference = reference.as_deref().map_or(String::new(), |at| format!(" ({at})"));
            format!("{oci}{reference}")
        }
        ManifestPlace::Directory(path) => path.clone(),
    }
}

/// Returns what the server of a source said.
fn render_update(newest: &Newest) -> Markup {
    html! {
        @match (&newest.error, &newest.newer_tag, &newest.commit) {
            (Some(error), _, _) => { "unknown: " (display_line(error)) }
            (None, Some(tag), _) => { strong { (display_line(tag)) } }
            (None, None, Some(commit)) if newest.is_outdated() => { strong { code { (short_id(commit)) } } }
            _ => "none",
        }
    }
}

fn render_sources(lock: &Lock, updates: Option<&[Newest]>) -> Markup {
    html! {
        section aria-labelledby="sources" {
            h2 id="sources" { "Sources" }
            (render_table("Sources", html! {
                (render_table_head([Words("source"), Words("from"), Words("commit"), Words("update"), Words("bundles")]))
                tbody {
                    @for (name, source) in &lock.sources {
                        tr data-source=(display_line(name)) {
                            th scope="row" { (display_line(name)) }
                            td class="path" { (display_line(&render_manifest_place(&source.place))) }
                            td { code { (source.commit.as_deref().map_or("–", short_id)) } }
                            td data-update=[updates.map(|all| all.iter().any(|newest| &newest.name == name && newest.is_outdated()))] {
                                @match updates.map(|all| all.iter().find(|newest| &newest.name == name)) {
                                    None => "not checked",
                                    Some(None) => "–",
                                    Some(Some(newest)) => (render_update(newest)),
                                }
                            }
                            td { @for (bundle, version) in &source.bundles { (display_line(bundle)) @if let Some(version) = version { " " (display_line(version)) } " " } }
                        }
                    }
                }
            }))
            @if updates.is_none() {
                p { "This page does not check for newer versions. Run " code { "brief update --check" } ", or " code { "brief view --updates" } " to show them here." }
            }
        }
    }
}

fn render_items(lock: &Lock, drift: &std::collections::BTreeMap<String, Drift>) -> Markup {
    html! {
        section aria-labelledby="installed" {
            h2 id="installed" { "Items" }
            p { span id="installed-count" { (render_number(lock.items.len())) } " items" }
            (render_table("Installed items", html! {
                (render_table_head([Words("item"), Words("source"), Words("version"), Words("capabilities"), Words("files")]))
                tbody {
                    @for (id, item) in &lock.items {
                        @let changed = item.files.keys().filter(|path| drift.contains_key(*path)).count();
                        tr data-item={ (id.kind) "/" (display_line(&id.name)) } {
                            th scope="row" { (id.kind) "/" (display_line(&id.name)) }
                            td { (display_line(&item.source)) }
                            td { (item.version.as_deref().map_or("–".to_owned(), display_line)) }
                            td {
                                @if item.capabilities.is_empty() { "nothing" }
                                @for capability in &item.capabilities { code { (display_line(capability)) } " " }
                            }
                            td {
                                (render_number(item.files.len()))
                                @if changed > 0 { ", " strong { (changed) " differ from brief.lock" } }
                            }
                        }
                    }
                }
            }))
        }
    }
}

fn render_packages(lock: &Lock) -> Markup {
    if lock.dependencies.is_empty() {
        return html! {};
    }
    html! {
        section aria-labelledby="packages" {
            h2 id="packages" { "Packages" }
            ul {
                @for dependency in &lock.dependencies {
                    li { (dependency.id.ecosystem) ":" (display_line(&dependency.id.to_string())) ", " (render_number(dependency.files.len())) " files" }
                }
            }
        }
    }
}
