//! Commands, an extension of the format: each client's own syntax (docs/reference/portable.md).

use crate::Shop;

fn command(header: &str, body: &str) -> String {
    format!("---\nschema: 1\nname: ship\ndescription: Ship it\nlicense: MIT\n{header}---\n\n{body}")
}

fn shop(header: &str, body: &str) -> Shop {
    Shop::new(&[("commands/ship/COMMAND.md", &command(header, body))])
}

/// Claude Code counts arguments from 0, opencode from 1, and VS Code asks for each by a name.
#[test]
fn arguments_are_in_the_words_of_the_client() {
    let shop = shop("arguments: [version, place]\n", "Ship $1 to `$2`: $ARGUMENTS for \\$5.\n");
    assert_eq!(
        shop.text(".claude/commands/ship.md"),
        "---\ndescription: Ship it\nargument-hint: \"[version] [place]\"\n---\n\n\
         Ship $ARGUMENTS[0] to `$ARGUMENTS[1]`: $ARGUMENTS for \\$5.\n"
    );
    assert_eq!(
        shop.body(".github/prompts/ship.prompt.md"),
        "\nShip ${input:version} to `${input:place}`: ${input:arguments} for $5.\n"
    );
    assert_eq!(
        shop.text(".opencode/commands/ship.md"),
        "---\ndescription: Ship it\n---\n\nShip $1 to `$2`: $ARGUMENTS for $5.\n"
    );
    let lost: Vec<String> = shop.compile().diagnostics.into_iter().map(|one| one.message).collect();
    assert_eq!(lost.len(), 1, "{lost:?}");
    assert!(
        lost[0].starts_with("opencode has no syntax for a literal `$` before a number"),
        "{lost:?}"
    );
}

#[test]
fn arguments_without_a_name_are_numbered() {
    let shop = shop("model: haiku\nargument-hint: what\n", "Ship $2.\n");
    assert_eq!(shop.body(".github/prompts/ship.prompt.md"), "\nShip ${input:argument2}.\n");
    let header = "description: Ship it\nargument-hint: what\nmodel: haiku\n";
    assert_eq!(shop.header(".claude/commands/ship.md"), header);
}

/// A body for one client is that client's own.
#[test]
fn an_override_stays_as_it_is() {
    let shop = Shop::new(&[
        ("commands/ship/COMMAND.md", &command("", "Ship $1.\n")),
        ("commands/ship/COMMAND.claude.md", "Ship $0 now.\n"),
    ]);
    assert_eq!(shop.body(".claude/commands/ship.md"), "\nShip $0 now.\n");
    assert_eq!(shop.body(".opencode/commands/ship.md"), "\nShip $1.\n");
}

/// The published format has no commands.
#[test]
fn the_format_compiles_none() {
    let files = [("commands/ship/COMMAND.md", &*command("", "Ship.\n"))];
    let shop = Shop::configured("[build]\nprofile = \"format\"\n", &files);
    assert_eq!(shop.compile().files, []);
}

/// Goose renders a recipe as a template: a variable is declared, and braces of the text are no variables
/// (`crates/goose/src/recipe/validate_recipe.rs`, 1.30).
#[test]
fn goose_gets_a_recipe() {
    let body = "Ship $1 to `$2`: $ARGUMENTS with {{x}} and {% raw %}.\n\n- one\n";
    let files =
        [("commands/ship/COMMAND.md", &*command("arguments: [the-version, place]\n", body))];
    let shop = Shop::configured("[clients.goose]\nname = \"Goose\"\n", &files);
    let parameter = |key: &str, what: &str| {
        format!(
            "  - key: {key}\n    input_type: string\n    requirement: optional\n    description: {what}\n    default: \"\"\n"
        )
    };
    let parameters = [
        parameter("arguments", "What the user wrote after the command"),
        parameter("the_version", "Argument 1"),
        parameter("place", "Argument 2"),
    ];
    let prompt = "Ship {{ the_version }} to `{{ place }}`: {{ arguments }} with {{ '{{' }}x}} and {{ '{%' }} raw %}.";
    assert_eq!(
        shop.text(".goose/recipes/ship.yaml"),
        format!(
            "version: \"1.0.0\"\ntitle: ship\ndescription: Ship it\nparameters:\n{}prompt: |\n  {prompt}\n\n  - one\n",
            parameters.concat()
        )
    );
    let plain = [("commands/ship/COMMAND.md", &*command("", "Ship.\n"))];
    let shop = Shop::configured("[clients.goose]\nname = \"Goose\"\n", &plain);
    assert_eq!(
        shop.text(".goose/recipes/ship.yaml"),
        "version: \"1.0.0\"\ntitle: ship\ndescription: Ship it\nprompt: |\n  Ship.\n"
    );
}
