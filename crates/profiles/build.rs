//! Turns `clients/*.toml` into constants, so that no run of the program parses them.
//!
//! The derived `Debug` of the model is Rust source: [`model::constant::Text`] and [`model::constant::List`] print the call of the
//! constant function that makes them. A format that the compiler does not read back fails the build.
#![expect(clippy::disallowed_methods, reason = "a build script has no `System`")]

#[path = "src/checks/mod.rs"]
#[expect(dead_code, unreachable_pub, reason = "the library uses what the build does not")]
mod checks;
#[path = "src/model/mod.rs"]
#[expect(dead_code, unreachable_pub, reason = "the library uses what the build does not")]
mod model;

use std::path::{Path, PathBuf};
use std::{env, fs};

use checks::ClientChecks;
use model::Client;
use model::constant::Text;
use model::places::KnownClients;

fn main() {
    for read in ["clients", "checks", "src/checks", "src/model"] {
        println!("cargo::rerun-if-changed={read}");
    }
    let target = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets it"));
    let write = |name: &str, content: String| {
        fs::write(target.join(name), content).expect("cargo made the directory");
    };
    match read_clients() {
        Ok(known) => {
            write("compiled.rs", lists_of_names(&known));
            write("builtin.rs", format!("{known:?}"));
        }
        Err(problem) => println!("cargo::error={problem}"),
    }
    match read_check_tables() {
        Ok(tables) => write("checks", tables),
        Err(problem) => println!("cargo::error={problem}"),
    }
}

/// Returns the constants with the names of clients that portable items are compiled for.
fn lists_of_names(known: &KnownClients) -> String {
    let compiled = known.clients.iter().filter(|client| client.outputs().next().is_some());
    let list = |name: &str, about: &str, clients: Vec<&Client>| {
        let names: Vec<&str> = clients.iter().map(|client| &*client.id).collect();
        let count = names.len();
        format!("/// {about}, by name.\npub const {name}: [&str; {count}] = {names:?};\n")
    };
    let usual = compiled.clone().filter(|client| client.is_usual()).collect();
    list("COMPILED", "The clients that portable items are compiled for", compiled.collect())
        + &list("USUAL", "The clients of the portable format's own document", usual)
}

/// Returns the files of a directory, by name.
fn files_in(directory: &str) -> Result<Vec<PathBuf>, String> {
    let listed = fs::read_dir(directory).map_err(|error| format!("{directory}: {error}"))?;
    let mut paths: Vec<PathBuf> = listed.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    Ok(paths)
}

/// Reads the tables of checks into one text: a line with the client's name and its paths, each after a tab, and a line
/// with the table as JSON.
fn read_check_tables() -> Result<String, String> {
    let mut tables = String::new();
    for path in files_in("checks")? {
        let named = |problem: String| format!("{}: {problem}", path.display());
        let text = fs::read_to_string(&path).map_err(|error| named(error.to_string()))?;
        let checks: ClientChecks = parse_toml(&text).map_err(named)?;
        if let Some(problem) = checks.find_problem() {
            return Err(named(problem));
        }
        let json: serde_json::Value = parse_toml(&text).map_err(named)?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        tables.push_str(&name);
        for path in checks.files.iter().flat_map(|file| &file.paths) {
            tables.push('\t');
            tables.push_str(path);
        }
        tables.push_str(&format!("\n{json}\n"));
    }
    Ok(tables)
}

/// Reads TOML. The error names the line.
fn parse_toml<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, String> {
    toml_edit::de::from_str(text).map_err(|error| {
        let line = error.span().map_or(1, |span| text[..span.start].matches('\n').count() + 1);
        format!("line {line}: {}", error.message())
    })
}

/// Reads all clients. The error names the file, the line and the key.
fn read_clients() -> Result<KnownClients, String> {
    let read =
        |path: &PathBuf| read_client(path).map_err(|error| format!("{}: {error}", path.display()));
    KnownClients::from_clients(files_in("clients")?.iter().map(read).collect::<Result<_, _>>()?)
}

fn read_client(path: &Path) -> Result<Client, String> {
    let text = fs::read_to_string(path).map_err(|error| error.to_string())?;
    let mut client: Client = parse_toml(&text)?;
    if path.file_stem().is_none_or(|stem| stem != &*client.id) {
        return Err(format!("line 1: the file of `{}` bears another name", &*client.id));
    }
    if client.outputs().next().is_some() {
        client.source = Some(Text::from(compiled_keys(&text)?));
    }
    Ok(client)
}

/// Returns a client's file with the keys that the compiler reads, and no comments: it is read in every build.
fn compiled_keys(text: &str) -> Result<String, String> {
    let mut file: serde_json::Map<String, serde_json::Value> = parse_toml(text)?;
    file.retain(|key, _| Client::COMPILED_KEYS.contains(&key.as_str()));
    toml_edit::ser::to_string(&file).map_err(|error| error.to_string())
}
