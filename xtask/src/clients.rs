//! A page for each client, made from its file, so that it cannot say anything else.

use std::fmt::Write;

use brief_profiles::{
    Attaches, BUILTIN, CheckSheet, Client, ClientRead, DeliveryOrigin, Evidence, Form, HomeOutput,
    HookProfile, ItemOutput, PassedOverFacts, Scoping, SeatWord, Seats, Seen, Text, Unless,
};

/// Returns the pages, each with its path.
pub(crate) fn render_client_pages() -> Vec<(String, String)> {
    let clients = BUILTIN.clients.iter();
    let mut pages: Vec<(String, String)> = clients
        .map(|client| (format!("docs/clients/{}.md", client.id), render_client_page(client)))
        .collect();
    pages.push(("docs/clients/README.md".to_owned(), render_client_index()));
    pages
}

fn render_client_index() -> String {
    let mut page = String::from(
        "# Clients\n\nThe facts about each AI client, made from `crates/profiles/clients` by `cargo xtask \
         generate`.\nA project describes a client of its own in `.brief/clients/NAME.toml`, with the same keys \
         (`brief schema client`),\nor takes one from a registry: `brief add SOURCE --client NAME`.\n\n| client | name | seen |\n| --- | --- | --- |\n",
    );
    for client in &BUILTIN.clients {
        let (id, seen) = (&client.id, render_client_evidence(client));
        let _ = writeln!(page, "| [`{id}`]({id}.md) | {} | {seen} |", client.name);
    }
    page.push_str("\n## What is read and written\n\n");
    page.push_str(&render_matrix());
    page
}

fn render_client_evidence(client: &Client) -> String {
    render_evidence(&client.seen)
}

fn render_evidence(seen: &Seen) -> String {
    let how = match (seen.how, &seen.version) {
        (Evidence::Run, Some(version)) => format!("version {version}, run"),
        (Evidence::Run, None) => "run".to_owned(),
        (Evidence::Documents, Some(version)) => format!("documents of version {version}"),
        (Evidence::Documents, None) => "documents".to_owned(),
    };
    format!("{how} on {}", seen.date)
}

#[expect(clippy::too_many_lines, reason = "one row for each fact")]
fn render_client_page(client: &Client) -> String {
    let mut page = format!(
        "# {}\n\nMade from `crates/profiles/clients/{}.toml` by `cargo xtask generate`.\n\n| fact | value |\n| --- | --- |\n",
        client.name, client.id
    );
    let mut row = |fact: &str, value: String| {
        if !value.is_empty() {
            let _ = writeln!(page, "| {fact} | {value} |");
        }
    };
    row(
        "name on the command line",
        render_names(std::iter::once(&client.id).chain(&client.aliases)),
    );
    row("seen", render_client_evidence(client));
    row("a project with it has", render_names(&client.signs));
    row("a home directory with it has", render_names(&client.home_signs));
    row("leaves alone what stands in", render_names(&client.ignores));
    row("finds the compiled items of", render_names(&client.items_of));
    let loading = &client.loading;
    if loading.attaches == Attaches::OnRead {
        row("loads nested and scoped files on", "a read".to_owned());
    }
    let own = client.reads.iter().filter(|read| read.attaches == Some(Attaches::WithOwnRead));
    row("loads below with its own read tool alone", render_names(own.map(|read| &read.path)));
    if let Some(modes) = &loading.modes {
        let words = render_names(modes.modes.iter().map(|mode| &mode.name));
        let files = modes.home.iter().map(|path| format!("`~/{path}`")).collect::<Vec<_>>();
        row(
            "loads by the setting",
            format!(
                "`{}` in {}: {words} ([meanings](../explanation/what-clients-load.md#modes-of-claude-code))",
                modes.key,
                files.join(", ")
            ),
        );
    }
    row("passes over skills", passed_over(loading.skills_passed_over.as_ref()));
    row("passes over agents", passed_over(loading.agents_passed_over.as_ref()));
    for read in &client.reads {
        let over = passed_over(read.passes_over.as_ref());
        row(&format!("passes over in `{}`", read.path), over);
    }
    for (fact, value) in loading_facts(client) {
        row(fact, value);
    }
    row("follows `@path` in", render_names(&loading.imports));
    row("loads at most", loading.most_bytes.map_or(String::new(), |most| format!("{most} bytes")));
    if let Some(servers) = &client.mcp {
        let mut files = render_names(servers.file.iter().chain(&servers.or));
        if let Some(home) = servers.home_file.as_ref().filter(|_| servers.file.is_none()) {
            files = format!("`~/{home}`");
        }
        row("MCP servers", format!("{files}, key `{}`", servers.key));
    }
    if let Some(hook) = &client.hook {
        let most = hook.limit.as_ref().map(|limit| {
            format!(
                ", at most {} {}",
                brief_syntax::text::group_digits(limit.most as u64),
                limit.unit.as_str()
            )
        });
        let events = hook.events.before.first().into_iter().chain(hook.events.after.first());
        row("hook", format!("{}{}", render_names(events), most.unwrap_or_default()));
        if let Some(install) = &hook.install {
            let home = install.home.as_ref().map(|home| format!(", `~/{home}`"));
            row(
                "`brief hook install` writes",
                format!("`{}`{}", install.file, home.unwrap_or_default()),
            );
            let (file, seen) = match &install.shared {
                Some(shared) => (&shared.file, &shared.seen),
                None => (&install.file, hook.seen.as_ref().unwrap_or(&client.seen)),
            };
            row(
                "`brief hook install --shared` writes",
                format!("`{file}` ({})", render_evidence(seen)),
            );
        }
        let carried = if hook.events.before_carries { "with the tool's result" } else { "never" };
        row("a text before a tool arrives", carried.to_owned());
        if hook.install.is_some() {
            row("a resumed conversation", render_resumed(hook));
        }
        for (fact, value) in event_facts(hook) {
            row(fact, value);
        }
        row("a call can be refused", if hook.can_refuse() { "yes" } else { "no" }.to_owned());
        for (fact, value) in enforcement_facts(hook) {
            row(fact, value);
        }
    }
    if let Some(records) = &client.transcripts {
        row("records sessions in", format!("`~/{}/{}`", records.directory, records.files));
        if let Some(days) = records.kept_days {
            row("keeps sessions for", format!("{days} days"));
        }
    }
    let sheet = CheckSheet::all_sheets().iter().find(|sheet| sheet.client == &*client.id);
    if let Some((sheet, checks)) = sheet.and_then(|sheet| Some((sheet, sheet.checks()?))) {
        let paths: Vec<String> = sheet.paths.iter().map(|path| format!("`{path}`")).collect();
        row(
            "`brief lint` checks",
            format!("{} ({})", paths.join(", "), render_evidence(&checks.seen)),
        );
    }
    if let Some(task) = &client.task {
        row("`brief task` writes rules to", format!("`{}`, `~/{}`", task.rules, task.home_rules));
    }
    add_reads(&mut page, client);
    add_outputs(&mut page, client);
    page
}

/// Returns what was seen of refused calls, of questions, and of turns that go on.
fn enforcement_facts(hook: &HookProfile) -> Vec<(&'static str, String)> {
    let Some(facts) = &hook.enforcement else { return Vec::new() };
    let yes = |is_so: bool| if is_so { "yes" } else { "no" }.to_owned();
    let mut rows = vec![
        ("a hook can make it ask", yes(!hook.ask.is_empty())),
        ("the end of a turn can be held", yes(!hook.stop.is_empty())),
        ("reads its hooks again while it runs", yes(facts.reloads)),
    ];
    rows.extend(facts.gaps.iter().map(|gap| ("does not stop", gap.to_string())));
    rows.push(("seen", render_evidence(&facts.seen)));
    rows
}

/// Adds the files that the client loads.
fn add_reads(page: &mut String, client: &Client) {
    if !client.reads.is_empty() || !client.home_reads.is_empty() {
        page.push_str(
            "\n## Loads by itself\n\n| place | looked for in | unless |\n| --- | --- | --- |\n",
        );
        for read in &client.reads {
            render_read(page, read, "", &render_seats(read.seats));
        }
        for read in &client.home_reads {
            render_read(page, read, "~/", "the home directory");
        }
    }
}

/// Adds the places of compiled items.
fn add_outputs(page: &mut String, client: &Client) {
    let outputs: Vec<(&str, &ItemOutput)> = client_outputs(client).collect();
    if !outputs.is_empty() {
        page.push_str("\n## Compiled items\n\n| kind | in a project | below the home directory |\n| --- | --- | --- |\n");
        for (kind, output) in outputs {
            let home = match &output.home {
                HomeOutput::AsInProject => format!("`~/{}`", output.path),
                HomeOutput::At(path) => format!("`~/{path}`"),
                HomeOutput::NotThere => "none".to_owned(),
            };
            let _ = writeln!(page, "| {kind} | `{}` | {home} |", output.path);
        }
    }
}

/// Returns what a client does not load again, or not yet, each with the evidence.
fn loading_facts(client: &Client) -> impl Iterator<Item = (&'static str, String)> {
    let loading = &client.loading;
    let facts = [
        ("an agent is there only after you approve its text", &loading.agents_need_approval),
        ("lists commands to the model, beside skills", &loading.lists_commands),
        (
            "a file that was attached before a compaction is not attached again",
            &loading.not_after_compaction,
        ),
        (
            "a file that was attached is not attached again for a subagent",
            &loading.not_in_subagents,
        ),
    ];
    let seen = facts.into_iter().filter_map(|(fact, seen)| Some((fact, seen.as_ref()?)));
    seen.map(|(fact, seen)| (fact, format!("yes ({})", render_evidence(seen))))
}

/// Returns what a client's events leave open.
fn event_facts(hook: &HookProfile) -> Vec<(&'static str, String)> {
    let mut facts = Vec::new();
    if !hook.tools.agent.is_empty() {
        let tools = render_names(&hook.tools.agent);
        facts.push((
            "events of a subagent",
            format!("name no agent: they are those during {tools}"),
        ));
    }
    if let Some(failed) = &hook.failed {
        let value = format!("dropped ({})", render_evidence(&failed.seen));
        facts.push(("a text after a failed call", value));
    }
    if hook.events.prompt.is_empty() {
        let value = "none: guidance comes with the first tool".to_owned();
        facts.push(("an event for a prompt", value));
    }
    facts
}

/// Returns what a resumed conversation keeps, with the evidence.
fn render_resumed(hook: &HookProfile) -> String {
    let Some(resumed) = &hook.resumed else {
        return "not observed: nothing is delivered again".to_owned();
    };
    let lost: Vec<&str> = resumed.lost.iter().map(|origin| lost_text(*origin)).collect();
    let keeps = match &*lost {
        [] => "keeps every delivered text".to_owned(),
        lost => format!("loses {}, which is delivered again", lost.join(", ")),
    };
    let about = if resumed.only_forks { "; of forks alone" } else { "" };
    format!("{keeps} ({}{about})", render_evidence(&resumed.seen))
}

fn lost_text(origin: DeliveryOrigin) -> &'static str {
    match origin {
        DeliveryOrigin::Start => "the text of the start",
        DeliveryOrigin::Prompt => "that of a prompt",
        DeliveryOrigin::Before => "that of the event before a tool",
        DeliveryOrigin::After => "that of the event after a tool",
        DeliveryOrigin::Attached => "files that the client attached",
    }
}

/// Returns the outputs of a client, by kind.
fn client_outputs(client: &Client) -> impl Iterator<Item = (&'static str, &ItemOutput)> {
    let outputs = [
        ("rule", &client.rule),
        ("skill", &client.skill),
        ("agent", &client.agent),
        ("command", &client.command),
    ];
    outputs.into_iter().filter_map(|(kind, output)| Some((kind, output.as_ref()?)))
}

fn render_matrix() -> String {
    let mut table = String::from(
        "`r`: `brief` reads what is there as the client does. \
         `w`: portable items\nare compiled for it. `i`: a file of the client becomes an item again. `s`: rules keep the files that they are \
         for. A test\n(`matrix.rs`) compiles an item for every `w` and reads it back.\n\n\
         | client | rules | skills | agents | commands | MCP servers | hook | permissions | ignore files |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n",
    );
    for client in &BUILTIN.clients {
        let written =
            |kind: &str| client_outputs(client).find(|(own, _)| *own == kind).map(|(_, out)| out);
        let reads = |is: &dyn Fn(Form) -> bool| {
            client.reads.iter().any(|read| {
                BUILTIN.project.iter().any(|place| place.key == read.path && is(place.form))
            })
        };
        let cell = |kind: &str, is_read: bool| {
            let output = written(kind);
            let mut letters: Vec<&str> = Vec::new();
            letters.extend(is_read.then_some("r"));
            letters.extend(output.map(|_| "w"));
            // The list of modes is read, too (`brief_clients::import`).
            let is_own = |output: &&ItemOutput| {
                output.named_in.as_deref().is_none_or(|file| file == ".roomodes")
                    && !output.is_listed
            };
            letters.extend(output.filter(is_own).map(|_| "i"));
            letters.extend(output.filter(|output| output.is_scoped).map(|_| "s"));
            let mut text = if letters.is_empty() { "–".to_owned() } else { letters.join(" ") };
            if let Some(file) = output.and_then(|output| output.named_in.as_ref()) {
                let _ = write!(text, ", named in `{file}`");
            } else if output.is_some_and(|output| output.is_listed) {
                text.push_str(", listed in its settings");
            }
            text
        };
        let skills = reads(&|form| form == Form::Skill);
        let agents = reads(&|form| form == Form::Agent);
        let rules = reads(&|form| !matches!(form, Form::Skill | Form::Agent));
        let servers = match &client.mcp {
            None => "–",
            Some(servers) if servers.stdio.is_empty() => "r",
            Some(servers) if servers.file.is_none() => "r w, the user's alone",
            Some(_) => "r w",
        };
        let hook = client.hook.as_ref().is_some_and(|hook| hook.install.is_some());
        let permissions = match &client.permissions {
            None => "–".to_owned(),
            Some(known) => format!("w, `{}`", known.file),
        };
        let id = &client.id;
        let _ = writeln!(
            table,
            "| [{}]({id}.md) | {} | {} | {} | {} | {servers} | {} | {permissions} | {} |",
            client.name,
            cell("rule", rules),
            cell("skill", skills),
            cell("agent", agents),
            cell("command", false),
            if hook { "yes" } else { "–" },
            match client.ignores.split_first() {
                None => "–".to_owned(),
                Some((first, [])) => format!("w, `{first}`"),
                Some((first, others)) => format!("w, `{first}`; {}", render_names(others)),
            },
        );
    }
    table.push_str(
        "\nCopilot in VS Code finds what is compiled for Copilot, and prompts are for it alone. A rule that `AGENTS.md` names is read when \
         the model\nopens it; `brief hook install` delivers it without that. Cline's command line loads every rule, and Continue's none that \
         has patterns: their\nextensions go by them. Continue's command line reads no server of a project. Permissions and ignored files are those\nof the project's `brief.toml`: \
         `brief import` names clients' own, and they stay as their user wrote them.\n\nEmpty cells, without those of hooks and ignore files, which the clients do not have:\n\n\
         | client | kind | reason |\n| --- | --- | --- |\n",
    );
    for client in &BUILTIN.clients {
        for lack in &client.lacks {
            let _ = writeln!(table, "| {} | {} | {} |", client.name, lack.kind, lack.reason);
        }
    }
    table
}

/// Returns the files that a client passes over, in words.
fn passed_over(facts: Option<&PassedOverFacts>) -> String {
    let Some(facts) = facts else { return String::new() };
    let PassedOverFacts { seen, needs_header, without, without_key, keys, shorter_than, .. } =
        facts;
    let PassedOverFacts { has_blank_in_name, nested, named_as_in, called_as_in, .. } = facts;
    let mut words: Vec<String> = Vec::new();
    let mut add = |is_so: bool, what: String| words.extend(is_so.then_some(what));
    add(*needs_header, "without front matter".to_owned());
    add(!without.is_empty(), format!("without a text in {}", render_names(without)));
    add(!without_key.is_empty(), format!("without the keys {}", render_names(without_key)));
    add(!keys.is_empty(), format!("with another key than {}", render_names(keys)));
    add(*shorter_than > 0, format!("of fewer than {shorter_than} characters"));
    add(*has_blank_in_name, "with a blank in the name".to_owned());
    add(*nested, "in directories".to_owned());
    add(!named_as_in.is_empty(), format!("whose name is in {}, too", render_names(named_as_in)));
    let called = render_names(called_as_in);
    add(!called.is_empty(), format!("whose name without its ending is in {called}, too"));
    let version = seen.as_ref().and_then(|seen| Some((seen.version.as_ref()?, &seen.date)));
    let seen =
        version.map_or(String::new(), |(version, date)| format!(" ({version}, run on {date})"));
    format!("those {}{seen}", words.join("; "))
}

fn render_read(page: &mut String, read: &ClientRead, above: &str, seats: &str) {
    let scoping = match read.scoping {
        Scoping::Own => "",
        Scoping::Ignored => ", whatever its fields say",
        Scoping::Unscoped => ", only what has no patterns",
        Scoping::CopilotCli => ", by patterns from the root",
    };
    let unless = match &read.unless {
        Unless::Never => String::new(),
        Unless::Earlier => "a place above is in the same directory".to_owned(),
        Unless::Beside(paths) => format!("{} in the same directory", render_names(paths)),
        Unless::ReplacedBy(paths) => {
            format!("{} in the same directory, read instead", render_names(paths))
        }
        Unless::AtStartOrBeside(paths) => {
            format!("{} up from the start, or in the same directory", render_names(paths))
        }
        Unless::AtStartElseBeside(paths) => {
            format!("{} up from the start; below, in the same directory", render_names(paths))
        }
    };
    let _ = writeln!(page, "| `{above}{}`{scoping} | {seats} | {unless} |", read.path);
}

fn render_seats(seats: Seats) -> String {
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
        if seats.contains_all(one) && !said.contains_all(one) {
            said = said.union(one);
            found.push(text);
        }
    }
    found.join(", ")
}

fn render_names<'t>(texts: impl IntoIterator<Item = &'t Text>) -> String {
    texts.into_iter().map(|text| format!("`{text}`")).collect::<Vec<_>>().join(", ")
}
