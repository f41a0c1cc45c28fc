//! `brief man`

use std::path::PathBuf;

use brief_syntax::render::path_below;
use brief_syntax::text::format_count;
use clap::Args;
use serde_json::json;

use crate::error::{CommandError, Result};
use crate::session::Session;
use crate::ui::Ui;

/// Print the manual page, or write one per command
#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// Directory to write to, such as `~/.local/share/man/man1` [default: standard output]
    #[arg(value_name = "DIR")]
    target: Option<PathBuf>,

    /// Print JSON
    #[arg(long, requires = "target")]
    json: bool,
}

pub(crate) fn run(ui: &mut Ui, session: &Session, args: &ManArgs) -> Result {
    let mut command = crate::build_command_line();
    command.build();
    let Some(directory) = &args.target else {
        return ui.print_raw(&render_man_page(command, "brief"));
    };
    let (system, directory) = (session.system(), session.directory().join(directory));
    let mut created = Vec::new();
    let mut write = |name: &str, text: String| {
        let path = directory.join(format!("{name}.1"));
        let written = system
            .create_dir(&directory)
            .and_then(|()| system.replace_file(&path, text.as_bytes()));
        written.map_err(|error| {
            CommandError::refused(format!("cannot write `{}`: {error}", path.display()))
        })?;
        created.push(path);
        Ok::<(), CommandError>(())
    };
    let mut pending = vec![("brief".to_owned(), command)];
    while let Some((name, command)) = pending.pop() {
        write(&name, render_man_page(command.clone(), &name))?;
        let is_shown = |below: &&clap::Command| below.get_name() != "help" && !below.is_hide_set();
        let below = command.get_subcommands().filter(is_shown);
        pending.extend(below.map(|below| (format!("{name}-{}", below.get_name()), below.clone())));
    }
    created.sort_unstable();
    if args.json {
        let root = session.open_root()?;
        let created = created.iter().map(|path| path_below(root.path(), path));
        let body = json!({ "created": created.collect::<Vec<_>>() });
        ui.print_json("man", root.path(), &[], body)?;
    } else {
        let pages = format_count(created.len(), "page");
        ui.print_status(&format!("wrote {pages} to {}", directory.display()))?;
    }
    Ok(())
}

fn render_man_page(command: clap::Command, name: &str) -> String {
    let mut page = Vec::new();
    let man = clap_mangen::Man::new(command.disable_help_subcommand(true));
    man.title(name.to_uppercase()).render(&mut page).expect("memory takes whatever is written");
    String::from_utf8_lossy(&page).into_owned()
}
