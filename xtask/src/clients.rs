//! A page for each client, made from its file, so that it cannot say anything else.

use std::fmt::Write;

use brief_profiles::{
    Attaches, BUILTIN, Client, ClientRead, Evidence, ItemOutput, Scoping, SeatWord, Seats, Text,
    Unless,
};

/// Returns the pages, each with its path.
pub(crate) fn pages() -> Vec<(String, String)> {
    let clients = BUILTIN.clients.iter();
    let mut pages: Vec<(String, String)> =
        clients.map(|client| (format!("docs/clients/{}.md", client.id), page(client))).collect();
    pages.push(("docs/clients/README.md".to_owned(), index()));
    pages
}

fn index() -> String {
    let mut page = String::from(
        "# Clients\n\nWhat `brief` knows about each AI client, made from `crates/profiles/clients` by `cargo xtask \
         generate`.\nA project describes a client of its own in `.brief/clients/NAME.toml`, with the same keys \
         (`brief schema client`).\n\n| client | name | seen |\n| --- | --- | --- |\n",
    );
    for client in &BUILTIN.clients {
        let (id, seen) = (&client.id, seen(client));
        let _ = writeln!(page, "| [`{id}`]({id}.md) | {} | {seen} |", client.name);
    }
    page
}

fn seen(client: &Client) -> String {
    let how = match (client.seen.how, &client.seen.version) {
        (Evidence::Run, Some(version)) => format!("version {version}, run"),
        (Evidence::Run, None) => "run".to_owned(),
        (Evidence::Documents, Some(version)) => format!("documents of version {version}"),
        (Evidence::Documents, None) => "documents".to_owned(),
    };
    format!("{how} on {}", client.seen.date)
}

fn page(client: &Client) -> String {
    let mut page = format!(
        "# {}\n\nMade from `crates/profiles/clients/{}.toml` by `cargo xtask generate`.\n\n| fact | value |\n| --- | --- |\n",
        client.name, client.id
    );
    let mut row = |fact: &str, value: String| {
        if !value.is_empty() {
            let _ = writeln!(page, "| {fact} | {value} |");
        }
    };
    row("name on the command line", names(std::iter::once(&client.id).chain(&client.aliases)));
    row("seen", seen(client));
    row("a project with it has", names(&client.signs));
    row("a home directory with it has", names(&client.home_signs));
    row("finds the compiled items of", names(&client.items_of));
    let loading = &client.loading;
    if loading.attaches == Attaches::OnRead {
        row("loads nested and scoped files on", "a read".to_owned());
    }
    row("follows `@path` in", names(&loading.imports));
    row("loads at most", loading.most_bytes.map_or(String::new(), |most| format!("{most} bytes")));
    if let Some(servers) = &client.mcp {
        let files = names(std::iter::once(&servers.file).chain(&servers.or));
        row("MCP servers", format!("{files}, key `{}`", servers.key));
    }
    if let Some(hook) = &client.hook {
        let most = hook.most_characters.map(|most| format!(", at most {most} characters"));
        let events = hook.events.before.first().into_iter().chain(hook.events.after.first());
        row("hook", format!("{}{}", names(events), most.unwrap_or_default()));
        if let Some(install) = &hook.install {
            let home = install.home.as_ref().map(|home| format!(", `~/{home}`"));
            row(
                "`brief hook install` writes",
                format!("`{}`{}", install.file, home.unwrap_or_default()),
            );
        }
        let carried = if hook.events.before_carries { "with the tool's result" } else { "never" };
        row("a text before a tool arrives", carried.to_owned());
        row("a call can be held back", if hook.hold.is_empty() { "no" } else { "yes" }.to_owned());
    }
    if let Some(task) = &client.task {
        row("`brief task` writes rules to", format!("`{}`, `~/{}`", task.rules, task.home_rules));
    }
    if !client.reads.is_empty() || !client.home_reads.is_empty() {
        page.push_str(
            "\n## Loads by itself\n\n| place | looked for in | unless |\n| --- | --- | --- |\n",
        );
        for read in &client.reads {
            reads(&mut page, read, "", &seats(read.seats));
        }
        for read in &client.home_reads {
            reads(&mut page, read, "~/", "the home directory");
        }
    }
    let outputs = [("rule", &client.rule), ("skill", &client.skill), ("agent", &client.agent)];
    let outputs = outputs.into_iter().filter_map(|(kind, output)| Some((kind, output.as_ref()?)));
    let outputs: Vec<(&str, &ItemOutput)> = outputs.collect();
    if !outputs.is_empty() {
        page.push_str("\n## Compiled items\n\n| kind | in a project | below the home directory |\n| --- | --- | --- |\n");
        for (kind, output) in outputs {
            let home = output.home.as_ref().unwrap_or(&output.path);
            let _ = writeln!(page, "| {kind} | `{}` | `~/{home}` |", output.path);
        }
    }
    page
}

fn reads(page: &mut String, read: &ClientRead, above: &str, seats: &str) {
    let scoping = match read.scoping {
        Scoping::Own => "",
        Scoping::Ignored => ", whatever its fields say",
        Scoping::Unscoped => ", only what has no patterns",
        Scoping::CopilotCli => ", by patterns from the root",
    };
    let unless = match &read.unless {
        Unless::Never => String::new(),
        Unless::Earlier => "a place above is in the same directory".to_owned(),
        Unless::Beside(paths) => format!("{} in the same directory", names(paths)),
        Unless::ReplacedBy(paths) => {
            format!("{} in the same directory, read instead", names(paths))
        }
        Unless::AtStartOrBeside(paths) => {
            format!("{} up from the start, or in the same directory", names(paths))
        }
        Unless::AtStartElseBeside(paths) => {
            format!("{} up from the start; below, in the same directory", names(paths))
        }
    };
    let _ = writeln!(page, "| `{above}{}`{scoping} | {seats} | {unless} |", read.path);
}

fn seats(seats: Seats) -> String {
    let words = [
        (SeatWord::Up, "up from the start directory to the root"),
        (SeatWord::Start, "the start directory"),
        (SeatWord::Root, "the root"),
        (SeatWord::Between, "between the root and the start directory"),
        (SeatWord::Below, "below the start directory"),
        (SeatWord::Elsewhere, "elsewhere"),
    ];
    let mut said = Seats::from(Vec::new());
    let mut found = Vec::new();
    for (word, text) in words {
        let one = Seats::from(vec![word]);
        if seats.includes(one) && !said.includes(one) {
            said = said.and(one);
            found.push(text);
        }
    }
    found.join(", ")
}

fn names<'t>(texts: impl IntoIterator<Item = &'t Text>) -> String {
    texts.into_iter().map(|text| format!("`{text}`")).collect::<Vec<_>>().join(", ")
}
