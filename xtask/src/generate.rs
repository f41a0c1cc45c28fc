//! Documentation that is generated from the program, so that the two agree.

mod diagnostics;
mod limits;
mod messages;

use std::ffi::{OsStr, OsString};
use std::fmt::Write;
use std::sync::Arc;
use std::{fs, io};

use brief_cli::Ui;
use brief_syntax::rules::RulePage;
use brief_system::{OsSystem, Remembered};

use crate::{book, clients, workspace_root};

/// The picture of `docs/how-to/view.md`.
const PICTURE: &str = "docs/pictures/shop.svg";

/// A generated file and its content.
struct Page {
    path: String,
    content: String,
}

fn render_pages() -> Result<Vec<Page>, String> {
    let page = |path: &str, content| Page { path: path.to_owned(), content };
    let mut pages = vec![
        page("docs/reference/cli.md", command_line()),
        page("docs/reference/diagnostics.md", diagnostics::render_rule_reference()),
        page("docs/reference/limits.md", limits::render_table()),
        page(PICTURE, draw_picture()),
        page(book::SCHEMAS, book::render_schemas_page()?),
    ];
    let rules = RulePage::all_pages();
    pages.extend(rules.map(|rule| page(&diagnostics::rule_page_path(rule.code), rule.to_string())));
    pages.extend(
        clients::render_client_pages().into_iter().map(|(path, content)| Page { path, content }),
    );
    pages.push(page(messages::PATH, messages::render_messages()?));
    pages.push(page(book::CONTENTS, book::render_contents()?));
    Ok(pages)
}

/// Writes the generated files, or with `check` only compares them.
pub(crate) fn generate_pages(check: bool) -> Result<(), String> {
    let pages = render_pages()?;
    diagnostics::remove_old(&pages.iter().map(|page| page.path.as_str()).collect(), check)?;
    for Page { path, content } in pages {
        let target = workspace_root().join(&path);
        let found = fs::read_to_string(&target).unwrap_or_default();
        if found == content {
            continue;
        }
        if check {
            return Err(format!("{path} is out of date; run: cargo xtask generate"));
        }
        if let Some(directory) = target.parent() {
            fs::create_dir_all(directory).map_err(|error| format!("{path}: {error}"))?;
        }
        fs::write(&target, content).map_err(|error| format!("{path}: {error}"))?;
    }
    Ok(())
}

/// Draws the shop of the examples, as any user would, without what the user of this machine has.
fn draw_picture() -> String {
    let out = workspace_root().join("target").join("shop.svg");
    let _ = fs::remove_file(&out);
    let system = Remembered::new(Arc::new(OsSystem)).without_user();
    let mut ui = Ui::new(Box::new(io::empty()), Box::new(io::sink()), Box::new(io::sink()));
    let shop = workspace_root().join("examples").join("shop");
    let words: [&OsStr; 7] = [
        "brief".as_ref(),
        "-C".as_ref(),
        shop.as_ref(),
        "tokens".as_ref(),
        "--tree".as_ref(),
        ".".as_ref(),
        "--svg".as_ref(),
    ];
    let args = words.into_iter().chain([out.as_os_str()]).map(OsString::from);
    brief_cli::run(args, &mut ui, Arc::new(system));
    fs::read_to_string(out).unwrap_or_default()
}

fn command_line() -> String {
    let mut page = String::from(
        "# Command line\n\nMade from the program's own help by `cargo xtask generate`.\n\n\
         Standard output is data, standard error is for people. Exit codes: 0 done; 1 findings, not \
         found or\nrefused; 2 wrong usage or configuration; 3 internal error.\n",
    );
    let mut command = brief_cli::build_command_line().term_width(96);
    command.build();
    describe_command(&mut page, command, "");
    page
}

fn describe_command(page: &mut String, mut command: clap::Command, parent: &str) {
    let name = format!("{parent}{}", command.get_name());
    // The common options are at the top.
    for name in ["color", "quiet", "verbose", "no_pager"] {
        if !parent.is_empty() && command.get_arguments().any(|found| found.get_id() == name) {
            command = command.mut_arg(name, |found| found.hide(true));
        }
    }
    let help = command.render_long_help().to_string();
    let help: Vec<&str> = help.lines().map(str::trim_end).collect();
    let _ = write!(page, "\n## `{name}`\n\n```text\n{}\n```\n", help.join("\n").trim_end());
    let shown = command.get_subcommands().filter(|below| !below.is_hide_set());
    let subcommands: Vec<clap::Command> = shown.cloned().collect();
    for subcommand in subcommands.into_iter().filter(|command| command.get_name() != "help") {
        describe_command(page, subcommand, &format!("{name} "));
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn generated_files_are_in_sync() {
        super::generate_pages(true).unwrap();
    }
}
