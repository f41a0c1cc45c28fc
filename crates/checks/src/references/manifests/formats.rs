//! The names that the text of a file defines, by its format.

use std::collections::BTreeMap;

use brief_dialects::dependencies::manifests::{find_table, parse_toml};
use brief_syntax::yaml::{Node, Value, Yaml};

use super::DefinedNames;

pub(super) fn single_name(name: Option<&str>) -> DefinedNames {
    DefinedNames { names: name.map(str::to_owned).into_iter().collect(), ..DefinedNames::default() }
}

pub(super) fn toml_keys(text: &str, keys: &[&str], opens: &[&str]) -> DefinedNames {
    let Some(document) = parse_toml(text) else { return DefinedNames::open_ended() };
    let (last, way) = opens.split_last().map_or(("", &[][..]), |(last, way)| (*last, way));
    let is_open = find_table(&document, way).is_some_and(|table| table.contains_key(last));
    let names = find_table(&document, keys).into_iter().flat_map(|table| table.iter());
    DefinedNames {
        names: names.map(|(name, _)| name.to_owned()).collect(),
        is_open,
        ..DefinedNames::default()
    }
}

pub(super) fn json_keys(text: &str, key: &str) -> DefinedNames {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let Ok(value) = serde_json::from_str::<serde_json::Value>(text) else {
        return DefinedNames::open_ended();
    };
    let names = value.get(key).and_then(|keys| keys.as_object());
    let names = names.into_iter().flat_map(|keys| keys.keys().cloned()).collect();
    DefinedNames { names, ..DefinedNames::default() }
}

/// Reads the rules of a makefile. Variables that are set in it to plain words are replaced.
pub(super) fn parse_makefile(text: &str, is_known: &dyn Fn(&str) -> bool) -> DefinedNames {
    let mut found = DefinedNames::default();
    let mut variables: BTreeMap<&str, &str> = BTreeMap::new();
    let joined = text.replace("\\\r\n", " ").replace("\\\n", " ");
    for line in joined.lines() {
        if line.starts_with('\t') || line.trim_start().starts_with('#') {
            continue;
        }
        let line = line.split(" #").next().unwrap_or(line);
        let trimmed = line.trim();
        if let Some(included) = trimmed.strip_prefix("include ") {
            found.is_open |=
                included.split_whitespace().any(|file| !is_known(file) && !file.contains(".env"));
            continue;
        }
        if trimmed.starts_with("$(eval")
            || trimmed.starts_with("$(foreach")
            || trimmed.starts_with("define ")
        {
            found.is_open = true;
            continue;
        }
        if let Some((name, value)) = parse_assignment(trimmed) {
            variables.insert(name, value);
            continue;
        }
        let Some((targets, rest)) = trimmed.split_once(':') else { continue };
        let is_phony = targets.trim() == ".PHONY";
        let names = if is_phony { rest.trim_start_matches(':') } else { targets };
        for name in names.split_whitespace() {
            let name = match name.strip_prefix("$(").and_then(|name| name.strip_suffix(')')) {
                Some(variable) => match variables.get(variable) {
                    Some(value) if !value.contains('$') => {
                        found.names.extend(value.split_whitespace().map(str::to_owned));
                        continue;
                    }
                    // Files that are made have other names than targets that people type.
                    _ if variable.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_')
                        && is_output(variable) =>
                    {
                        continue;
                    }
                    _ => name,
                },
                None => name,
            };
            if let Some((start, end)) = name.split_once('%') {
                found.patterns.push((start.to_owned(), end.to_owned()));
            } else if name.contains('$') {
                // `$(BUILD)/x.o` is a file.
                found.is_open |= !name.contains('/') && !name.contains('.');
            } else {
                found.names.insert(name.to_owned());
            }
        }
    }
    found
}

fn is_output(variable: &str) -> bool {
    ["BIN", "OBJ", "LIB", "OUT", "EXE", "DIR", "FILE", "TARGET_", "SRC", "DEP"]
        .iter()
        .any(|part| variable.contains(part))
}

/// Reads `NAME = value`, `NAME := value`, `NAME ?= value`.
fn parse_assignment(line: &str) -> Option<(&str, &str)> {
    let line = line.strip_prefix("export ").unwrap_or(line);
    let (name, value) = line.split_once('=')?;
    let name = name.trim_end_matches([':', '?', '+', '!', ' ', '\t']);
    let is_name = !name.is_empty()
        && name.chars().all(|letter| letter.is_ascii_alphanumeric() || "_-.".contains(letter));
    is_name.then(|| (name, value.trim()))
}

/// Reads the recipes of a justfile.
pub(super) fn parse_justfile(text: &str, is_known: &dyn Fn(&str) -> bool) -> DefinedNames {
    let mut found = DefinedNames::default();
    for line in text.lines() {
        if line.starts_with([' ', '\t', '#', '[']) {
            continue;
        }
        let mut words = line.split_whitespace();
        match words.next() {
            Some("import" | "import?" | "!include") => {
                let file = words.next().unwrap_or_default().trim_matches(['"', '\'']);
                found.is_open |= !is_known(file);
            }
            // `just shop build` runs a recipe of the module `shop`.
            Some("mod" | "mod?" | "alias") => found.names.extend(words.next().map(str::to_owned)),
            Some("set" | "export" | "unexport") | None => {}
            Some(first) => {
                let Some((head, _)) =
                    line.split_once(':').filter(|(_, rest)| !rest.starts_with('='))
                else {
                    continue;
                };
                if head.trim_end().ends_with(['"', '\'']) && !head.contains('=') {
                    continue;
                }
                let name = first.trim_start_matches('@').split(':').next().unwrap_or_default();
                found.names.insert(name.to_owned());
            }
        }
    }
    found
}

/// Reads the tasks of a Taskfile. The names that it includes have a `:`.
pub(super) fn parse_taskfile(text: &str) -> DefinedNames {
    let yaml = Yaml::parse(text);
    let Some(Value::Mapping(top)) = yaml.root().map(Node::value) else {
        return DefinedNames::open_ended();
    };
    let mut found = DefinedNames::default();
    if let Some(Value::Mapping(includes)) = top.get("includes").map(Node::value) {
        let of = |name: &str| (format!("{name}:"), String::new());
        found.patterns.extend(includes.fields().map(|field| of(field.name())));
        // A flattened one adds its tasks under their own names.
        found.is_open |= text.contains("flatten:");
    }
    if let Some(Value::Mapping(tasks)) = top.get("tasks").map(Node::value) {
        for field in tasks.fields() {
            match field.name().split_once('*') {
                Some((start, end)) => found.patterns.push((start.to_owned(), end.to_owned())),
                None => {
                    found.names.insert(field.name().to_owned());
                }
            }
            if let Value::Mapping(task) = field.value.value()
                && let Some(Value::Sequence(aliases)) = task.get("aliases").map(Node::value)
            {
                found.names.extend(aliases.iter().filter_map(Node::as_str).map(str::to_owned));
            }
        }
    }
    found
}

pub(super) fn parse_noxfile(text: &str) -> DefinedNames {
    let mut found = DefinedNames::default();
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("def ").or_else(|| line.strip_prefix("async def ")) {
            found.names.extend(rest.split('(').next().map(str::to_owned));
        }
        for mark in ["name=\"", "name='"] {
            let rest = line.split_once(mark).map(|(_, rest)| rest);
            found
                .names
                .extend(rest.and_then(|rest| rest.split(['"', '\'']).next()).map(str::to_owned));
        }
        found.is_open |= line.contains("nox.session(") && line.contains("for ");
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(defined: &DefinedNames) -> Vec<&str> {
        defined.names.iter().map(String::as_str).collect()
    }

    #[test]
    fn makefiles_define_targets() {
        let text = "VERSION := 1:2\nTOOLS = fmt vet\n.PHONY: all phony\nall: build # x\nbuild test: dep\n\techo x: y\n\
                    $(TOOLS):\n\techo\ndocs-%: x\n$(BIN_DIR)/a: b\n$(OUTPUTS):\n";
        let found = parse_makefile(text, &|_| false);
        assert_eq!(names(&found), ["all", "build", "fmt", "phony", "test", "vet"]);
        assert!(found.contains_name("docs-html") && !found.contains_name("docs") && !found.is_open);
        assert!(parse_makefile("include common.mk\n", &|_| false).is_open);
        assert!(!parse_makefile("include common.mk\n", &|_| true).is_open);
        assert!(parse_makefile("$(SERVICES):\n", &|_| false).is_open);
    }

    #[test]
    fn justfiles_define_recipes() {
        let text = "set shell := ['sh']\nx := 'y: z'\nalias b := build\n@build target='a':\n  echo a: b\n_help:\n\
                    test *args: build\n[private]\nhidden:\n";
        let found = parse_justfile(text, &|_| false);
        assert_eq!(names(&found), ["_help", "b", "build", "hidden", "test"]);
    }

    #[test]
    fn taskfiles_define_tasks() {
        let text = "version: '3'\nincludes:\n  docs: ./docs\ntasks:\n  build:\n    aliases: [b]\n    cmds: [x]\n  'gen-*': y\n";
        let found = parse_taskfile(text);
        assert_eq!(names(&found), ["b", "build"]);
        assert!(
            found.contains_name("docs:x")
                && found.contains_name("gen-a")
                && !found.contains_name("test")
        );
    }

    #[test]
    fn noxfiles_define_sessions() {
        let text = "@nox.session\ndef lint(session):\n    pass\n@nox.session(name=\"type-check\")\ndef types(s): pass\n";
        assert_eq!(names(&parse_noxfile(text)), ["lint", "type-check", "types"]);
    }
}
