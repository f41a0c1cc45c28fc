//! Seeds: the texts of `conformance/`, by their path in a case.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::crate_directory;

/// A text of a conformance case.
#[derive(Debug)]
pub struct Seed {
    /// Its path in the case; empty for a text without one.
    pub path: String,
    /// Its bytes.
    pub content: Vec<u8>,
}

/// Reads every text of `conformance/`: whole files, and files inside cases.
pub fn read_all_seeds() -> Vec<Seed> {
    let mut seeds = Vec::new();
    for path in files_below(&crate_directory().with_file_name("conformance")) {
        let Ok(content) = fs::read(&path) else { continue };
        if path.file_name().is_some_and(|name| name == "cases.json")
            && let Ok(cases) = serde_json::from_slice::<Value>(&content)
        {
            collect_seeds(&cases, &mut seeds);
        } else {
            seeds.push(Seed { path: path.to_string_lossy().into_owned(), content });
        }
    }
    // Order and number must not depend on the file system.
    seeds.sort_by(|left, right| (&left.path, &left.content).cmp(&(&right.path, &right.content)));
    seeds.dedup_by(|left, right| left.content == right.content);
    seeds
}

/// Reads the inputs found for a target earlier.
pub fn read_found_inputs(target: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let mut inputs: Vec<(PathBuf, Vec<u8>)> =
        files_below(&crate_directory().join("found").join(target))
            .into_iter()
            .filter_map(|path| fs::read(&path).ok().map(|content| (path, content)))
            .collect();
    inputs.sort();
    inputs
}

fn files_below(directory: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut open = vec![directory.to_owned()];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => open.push(entry.path()),
                Ok(kind) if kind.is_file() => files.push(entry.path()),
                _ => {}
            }
        }
    }
    files
}

/// Collects the files of cases, their standard input, their arguments and their texts.
fn collect_seeds(value: &Value, seeds: &mut Vec<Seed>) {
    match value {
        Value::Array(list) => list.iter().for_each(|item| collect_seeds(item, seeds)),
        Value::Object(fields) => {
            if let (Some(path), Some(content)) =
                (text_field(value, "path"), text_field(value, "content"))
            {
                seeds.push(create_seed(path, content));
            }
            for (name, field) in fields {
                match (name.as_str(), field) {
                    ("files", Value::Object(files)) => {
                        for (path, content) in files {
                            if let Some(content) =
                                content.as_str().or(text_field(content, "content"))
                            {
                                seeds.push(create_seed(path, content));
                            }
                        }
                    }
                    ("header", Value::String(header)) => {
                        seeds
                            .push(create_seed("header.md", &format!("---\n{header}\n---\nbody\n")));
                    }
                    ("stdin", Value::String(content)) => {
                        seeds.push(create_seed("stdin.json", content));
                    }
                    ("args", Value::Array(args)) => {
                        let args = args.iter().filter_map(Value::as_str);
                        seeds.extend(args.map(|argument| create_seed("args", argument)));
                    }
                    (_, other) => collect_seeds(other, seeds),
                }
            }
        }
        _ => {}
    }
}

fn text_field<'v>(value: &'v Value, key: &str) -> Option<&'v str> {
    value.get(key).and_then(Value::as_str)
}

fn create_seed(path: &str, content: &str) -> Seed {
    Seed { path: path.to_owned(), content: content.as_bytes().to_vec() }
}
