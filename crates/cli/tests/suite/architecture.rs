//! The house: which crate may see which, and how large a file may grow.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use toml_edit::{DocumentMut, Item};

use crate::workspace;

/// The floors from the top down. A crate sees only floors below its own.
const FLOORS: [&[&str]; 11] = [
    &["brief-agent-cli"],
    &["brief-cli"],
    &["brief-serve", "briefing"],
    &["brief-workflows"],
    &["brief-checks", "brief-runtime"],
    &["brief-agent", "brief-clients", "brief-engine", "brief-registry"],
    &["brief-mcp-client"],
    &["brief-dialects"],
    &["brief-outgoing", "brief-profiles", "brief-safety"],
    &["brief-syntax"],
    &["brief-system"],
];

/// The crate of test helpers; it stands on no floor, and nothing that ships may see it.
const TESTKIT: &str = "brief-testkit";

/// The most lines a source file may have, tests in it included.
const MOST_LINES: usize = 600;

struct Manifest {
    name: String,
    dependencies: Vec<String>,
    dev_dependencies: Vec<String>,
}

/// Reads the manifests of the crates, as far as this test needs them.
fn manifests() -> Vec<Manifest> {
    let mut manifests = Vec::new();
    for entry in fs::read_dir(workspace().join("crates")).unwrap() {
        let text = fs::read_to_string(entry.unwrap().path().join("Cargo.toml")).unwrap();
        let mut manifest = Manifest {
            name: String::new(),
            dependencies: Vec::new(),
            dev_dependencies: Vec::new(),
        };
        let mut section = String::new();
        for line in text.lines().map(str::trim) {
            if let Some(name) = line.strip_prefix('[') {
                section = String::from(name.trim_end_matches(']'));
            } else if section == "package" && line.starts_with("name = ") {
                manifest.name = String::from(line.split('"').nth(1).unwrap());
            } else if line.starts_with("brief-") && section.ends_with("dependencies") {
                let name = line.split(['.', ' ', '=']).next().unwrap().to_owned();
                if section.ends_with("dev-dependencies") {
                    manifest.dev_dependencies.push(name);
                } else {
                    manifest.dependencies.push(name);
                }
            }
        }
        assert!(!manifest.name.is_empty());
        manifests.push(manifest);
    }
    manifests.sort_by(|left, right| left.name.cmp(&right.name));
    manifests
}

/// Packages that ship, those for other systems included. More need a reason: 13 are the HTTP server of `brief mcp --http`,
/// 4 the templates of `brief view`, 10 the archives of `cargo xtask dist`, which the program has for artifacts too, and 6 `SQLite`, in
/// which two clients keep their sessions.
const MOST_SHIPPED: usize = 232;

/// Packages of others in `Cargo.lock`, those of tests and other systems included. 39 of them are the independent JSON Schema of tests.
const MOST_PACKAGES: usize = 275;

/// Counts the packages that our crates need outside of tests, on any system.
fn shipped_packages(lock: &str) -> usize {
    let lock: DocumentMut = lock.parse().unwrap();
    let packages: Vec<(&str, &str, Vec<&str>)> = lock["package"]
        .as_array_of_tables()
        .unwrap()
        .iter()
        .map(|package| {
            let text = |key: &str| package[key].as_str().unwrap();
            let needs = package.get("dependencies").and_then(Item::as_array);
            let needs = needs.into_iter().flatten().filter_map(|need| need.as_str());
            (text("name"), text("version"), needs.collect())
        })
        .collect();
    let mut waiting: Vec<String> = Vec::new();
    for entry in fs::read_dir(workspace().join("crates")).unwrap() {
        let text = fs::read_to_string(entry.unwrap().path().join("Cargo.toml")).unwrap();
        if text.contains(&format!("name = \"{TESTKIT}\"")) {
            continue;
        }
        for section in text.split("\n[").filter(|section| {
            let head = section.lines().next().unwrap_or_default();
            head.ends_with("dependencies]") && !head.ends_with("dev-dependencies]")
        }) {
            let lines = section.lines().skip(1);
            let names = lines.filter_map(|line| Some(line.split_once(['.', ' ', '='])?.0));
            waiting.extend(names.filter(|name| !name.starts_with("brief")).map(str::to_owned));
        }
    }
    let mut shipped = BTreeSet::new();
    while let Some(need) = waiting.pop() {
        let mut parts = need.split(' ');
        let (name, version) = (parts.next(), parts.next());
        for (own, its, needs) in &packages {
            let is_it = name == Some(*own) && version.is_none_or(|version| version == *its);
            if is_it && shipped.insert((*own, *its)) {
                waiting.extend(needs.iter().map(|&need| need.to_owned()));
            }
        }
    }
    shipped.len()
}

fn floors() -> BTreeMap<&'static str, usize> {
    let floors = FLOORS.iter().enumerate();
    floors.flat_map(|(floor, names)| names.iter().map(move |&name| (name, floor))).collect()
}

/// Design: "Dependencies point down only; two crates on one floor never see each other".
#[test]
fn dependencies_point_down() {
    let floors = floors();
    for manifest in manifests().iter().filter(|manifest| manifest.name != TESTKIT) {
        let name = manifest.name.as_str();
        let floor = floors.get(name).unwrap_or_else(|| panic!("{name} stands on no floor"));
        for dependency in manifest.dependencies.iter().chain(&manifest.dev_dependencies) {
            if dependency == TESTKIT {
                continue;
            }
            let below = floors.get(dependency.as_str());
            assert!(below.is_some_and(|below| below > floor), "{name} must not see {dependency}");
        }
    }
}

/// The drawing of the house has the floors that the test above enforces.
#[test]
fn the_house_is_drawn_as_it_stands() {
    let page = fs::read_to_string(workspace().join("ARCHITECTURE.md")).unwrap();
    let house = page.split("\n## ").find(|section| section.starts_with("The house\n")).unwrap();
    let drawing = house.split("```").nth(1).unwrap();
    let mut drawn: Vec<Vec<String>> = vec![Vec::new()];
    for line in drawing.lines().skip(1) {
        match line.split_whitespace().next() {
            Some(name) if name.starts_with('─') => drawn.push(Vec::new()),
            Some("briefing") => drawn.last_mut().unwrap().push("briefing".to_owned()),
            Some(name) => drawn.last_mut().unwrap().push(format!("brief-{name}")),
            None => {}
        }
    }
    for floor in &mut drawn {
        floor.sort_unstable();
    }
    let mut floors = FLOORS.map(<[&str]>::to_vec);
    for floor in &mut floors {
        floor.sort_unstable();
    }
    assert_eq!(drawn, floors);
    let crates: Vec<String> = manifests().into_iter().map(|manifest| manifest.name).collect();
    let placed: usize = floors.iter().map(Vec::len).sum();
    assert_eq!(placed + 1, crates.len(), "{crates:?}");
}

/// The formats: the folders of `dialects`.
fn formats() -> Vec<String> {
    let mut formats = Vec::new();
    for entry in fs::read_dir(workspace().join("crates/dialects/src")).unwrap() {
        let entry = entry.unwrap();
        // The check of a rule is a part of items in every format.
        if entry.path().is_dir() && entry.file_name() != "rule_check" {
            formats.push(entry.file_name().into_string().unwrap());
        }
    }
    assert!(formats.len() >= 7, "{formats:?}");
    formats
}

/// Returns the modules of its own crate that a file names: each first name after `crate::`, also in braces.
fn named_modules(text: &str) -> Vec<&str> {
    let is_name = |sign: char| sign.is_alphanumeric() || sign == '_';
    let first = |path: &str| path.find(|sign| !is_name(sign)).unwrap_or(path.len());
    let mut named = Vec::new();
    for rest in text.split("crate::").skip(1) {
        let Some(tree) = rest.strip_prefix('{') else {
            named.push(&rest[..first(rest)]);
            continue;
        };
        let (mut depth, mut is_start) = (0_usize, true);
        for (at, sign) in tree.char_indices() {
            match sign {
                '}' if depth == 0 => break,
                '{' => depth += 1,
                '}' => depth -= 1,
                ',' if depth == 0 => is_start = true,
                _ if is_start && is_name(sign) => {
                    named.push(&tree[at..at + first(&tree[at..])]);
                    is_start = false;
                }
                _ => {}
            }
        }
    }
    named
}

/// Design: "no format knows about another"; what several formats share lies beside their folders.
#[test]
fn no_format_knows_another() {
    let formats = formats();
    for format in &formats {
        let mut files = Vec::new();
        sources(&workspace().join("crates/dialects/src").join(format), &mut files);
        for file in files {
            let text = fs::read_to_string(&file).unwrap();
            for named in named_modules(&text) {
                let is_other = named != format && formats.iter().any(|other| other == named);
                assert!(!is_other, "{} names `{named}`", file.display());
            }
        }
    }
    assert_eq!(named_modules("use crate::{a::{b, c}, d}; crate::e::f"), ["a", "d", "e"]);
}

/// Design: the catalog reads every format in one way, and knows none by name.
#[test]
fn the_catalog_knows_no_format_by_name() {
    let catalog = workspace().join("crates/engine/src/catalog.rs");
    let text = fs::read_to_string(catalog).unwrap();
    for format in formats() {
        assert!(!text.contains(&format!("{format}::NAME")), "{format}");
    }
}

/// "Two programs": what runs agent files is in `brief-agent` alone, so that a hook does not load it.
#[test]
fn the_engine_of_agents_is_in_their_own_program() {
    let above = |wanted: &str| -> Vec<String> {
        let has = |manifest: &Manifest| manifest.dependencies.iter().any(|name| name == wanted);
        manifests().into_iter().filter(has).map(|manifest| manifest.name).collect()
    };
    assert_eq!(above("brief-agent"), ["brief-agent-cli"]);
    assert_eq!(above("brief-agent-cli"), [""; 0]);
    let homes = [
        ("rquickjs", "brief-agent"),
        ("landlock", "brief-agent"),
        ("seccompiler", "brief-agent"),
        ("rustyline", "brief-agent-cli"),
    ];
    for manifest in manifests() {
        let home = manifest.name.trim_start_matches("brief-");
        let path = workspace().join("crates").join(home).join("Cargo.toml");
        let text = fs::read_to_string(path).unwrap();
        for (library, home) in homes {
            let uses = text.lines().any(|line| line.starts_with(&format!("{library}.")));
            assert_eq!(uses, manifest.name == home, "{library} in {}", manifest.name);
        }
    }
}

/// R8: no crate has unsafe code of its own, what is linked in is checked by `deny.toml`, no YAML reader follows
/// includes, and the number of packages has a budget.
#[test]
fn r8_what_is_linked_in_is_kept_small_and_safe() {
    let read = |path: &str| fs::read_to_string(crate::workspace().join(path)).unwrap();
    let workspace = read("Cargo.toml");
    assert!(workspace.contains("\nunsafe_code = \"forbid\"\n"));
    let members = manifests()
        .into_iter()
        .map(|manifest| format!("crates/{}", manifest.name.trim_start_matches("brief-")));
    for member in members.chain(["xtask".to_owned(), "fuzz".to_owned()]) {
        let manifest = read(&format!("{member}/Cargo.toml"));
        assert!(manifest.contains("[lints]\nworkspace = true\n"), "{member}");
    }
    let deny = read("deny.toml");
    for table in ["[advisories]", "[licenses]", "[bans]", "[sources]"] {
        assert!(deny.contains(table), "deny.toml has no {table}");
    }
    assert!(!workspace.contains("include_fs"));
    let lock = read("Cargo.lock");
    let packages = lock.matches("\nsource = ").count();
    assert!(packages <= MOST_PACKAGES, "{packages} packages");
    let shipped = shipped_packages(&lock);
    assert!((150..=MOST_SHIPPED).contains(&shipped), "{shipped} packages ship");
}

/// Design: the test kit is for tests only, and stands on the ground floor alone.
#[test]
fn the_test_kit_is_for_tests_only() {
    for manifest in manifests() {
        let Manifest { name, dependencies, dev_dependencies } = manifest;
        assert!(!dependencies.iter().any(|dependency| dependency == TESTKIT), "{name}");
        if name == TESTKIT {
            assert_eq!(dependencies, ["brief-system"]);
            assert!(dev_dependencies.is_empty());
        }
    }
}

/// Design: "the walk of a command as a list of files; the longest ≤ 15".
#[test]
fn every_walk_is_there() {
    let page = fs::read_to_string(workspace().join("ARCHITECTURE.md")).unwrap();
    let walks = page.split("\n## ").find(|section| section.starts_with("Walks\n")).unwrap();
    let walks: Vec<&str> = walks.split("\n\n**").skip(1).collect();
    assert_eq!(walks.len(), 4);
    for walk in walks {
        let files: Vec<&str> = walk.split('`').filter(|word| is_source(Path::new(word))).collect();
        assert!((5..=15).contains(&files.len()), "{walk}");
        for file in files {
            assert!(workspace().join("crates").join(file).is_file(), "{file}");
        }
    }
}

/// The table of questions names functions that are in their files.
#[test]
fn every_function_to_look_for_is_there() {
    let page = fs::read_to_string(workspace().join("ARCHITECTURE.md")).unwrap();
    let table = page.split("\n## ").find(|part| part.starts_with("Where to look\n")).unwrap();
    let rows: Vec<&str> = table.lines().filter(|line| line.starts_with("| ")).skip(2).collect();
    assert!(rows.len() > 15, "{}", rows.len());
    for row in rows {
        let cells: Vec<&str> = row.trim_matches(['|', ' ']).split(" | ").collect();
        let [_, functions, files] = cells[..] else { panic!("{row}") };
        let code: String = files
            .split('`')
            .skip(1)
            .step_by(2)
            .map(|file| fs::read_to_string(workspace().join("crates").join(file)).unwrap())
            .collect();
        for function in functions.split('`').skip(1).step_by(2) {
            let is_there =
                ['(', '<'].iter().any(|end| code.contains(&format!("fn {function}{end}")));
            assert!(is_there, "{function}: {files}");
        }
    }
}

fn is_source(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "rs")
}

/// House style: "a glossary that the code uses": each type in it exists.
#[test]
fn every_word_of_the_glossary_is_in_the_code() {
    let page = fs::read_to_string(workspace().join("ARCHITECTURE.md")).unwrap();
    let glossary = page.split("\n## ").find(|part| part.starts_with("Glossary\n")).unwrap();
    let rows: Vec<&str> = glossary.lines().filter(|line| line.starts_with("| ")).skip(2).collect();
    assert!((20..=34).contains(&rows.len()), "{}", rows.len());
    let mut files = Vec::new();
    sources(&workspace().join("crates"), &mut files);
    let code: String = files.iter().map(|file| fs::read_to_string(file).unwrap()).collect();
    for row in rows {
        let types = row.rsplit(" | ").next().unwrap();
        for name in types.split('`').skip(1).step_by(2) {
            let name = name.rsplit("::").next().unwrap();
            let is_declared = ["struct", "enum", "trait"].iter().any(|keyword| {
                let declared = format!("{keyword} {name}");
                code.match_indices(&declared).any(|(start, _)| {
                    let rest = &code[start + declared.len()..];
                    !rest.starts_with(|next: char| next.is_alphanumeric())
                })
            });
            assert!(is_declared, "{name} in {row}");
        }
    }
}

/// House style: "public type names are unique", so that a search finds one type.
#[test]
fn public_types_have_names_of_their_own() {
    let mut files = Vec::new();
    sources(&workspace().join("crates"), &mut files);
    let mut homes: BTreeMap<String, PathBuf> = BTreeMap::new();
    for file in files.into_iter().filter(|file| file.iter().any(|part| part == "src")) {
        for line in fs::read_to_string(&file).unwrap().lines() {
            let Some(rest) = line.strip_prefix("pub ") else { continue };
            let keywords = ["struct ", "enum ", "trait ", "type "];
            let Some(name) = keywords.iter().find_map(|word| rest.strip_prefix(word)) else {
                continue;
            };
            let name: String = name.chars().take_while(|c| c.is_alphanumeric()).collect();
            if let Some(other) = homes.insert(name.clone(), file.clone()) {
                panic!("`{name}` is in {} and in {}", other.display(), file.display());
            }
        }
    }
    assert!(homes.len() > 300, "{}", homes.len());
}

fn sources(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if is_source(&path) {
            found.push(path);
        }
    }
}

/// Returns the source files of all crates, tests not included.
pub(crate) fn crate_sources() -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(workspace().join("crates")).unwrap() {
        sources(&entry.unwrap().path().join("src"), &mut found);
    }
    found.sort_unstable();
    found
}

/// Returns the files that tests stand in: sources and integration tests.
pub(crate) fn all_sources() -> Vec<PathBuf> {
    let mut found = crate_sources();
    for entry in fs::read_dir(workspace().join("crates")).unwrap() {
        let tests = entry.unwrap().path().join("tests");
        if tests.is_dir() {
            sources(&tests, &mut found);
        }
    }
    found
}

/// House style: "`main.rs` ≤ 30 lines", and files that one can read in one go.
#[test]
fn files_stay_short() {
    let programs = crate_sources();
    for path in all_sources() {
        let lines = fs::read_to_string(&path).unwrap().lines().count();
        let is_program = path.ends_with("main.rs") && programs.contains(&path);
        let most = if is_program { 30 } else { MOST_LINES };
        assert!(lines <= most, "{} has {lines} lines, more than {most}", path.display());
    }
}

/// House style: "Every module opens with `//!`".
#[test]
fn every_module_says_what_it_is() {
    for path in all_sources() {
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.starts_with("//!"), "{} does not open with `//!`", path.display());
    }
}

/// A file that no module declares, or a program that no manifest declares, holds tests that never run.
#[test]
fn no_test_file_is_forgotten() {
    for entry in fs::read_dir(workspace().join("crates")).unwrap() {
        let home = entry.unwrap().path();
        let manifest = fs::read_to_string(home.join("Cargo.toml")).unwrap();
        let finds_programs = !manifest.contains("autotests = false");
        let mut files = Vec::new();
        if home.join("tests").is_dir() {
            sources(&home.join("tests"), &mut files);
        }
        for file in files {
            let below = file.strip_prefix(&home).unwrap().to_str().unwrap();
            let is_listed = manifest.contains(&format!("path = \"{below}\""));
            let is_found =
                finds_programs && (below.matches('/').count() == 1 || below.ends_with("/main.rs"));
            assert!(is_listed || is_found || is_declared(&file), "no program has {below}");
        }
    }
}

/// Returns whether the module above a file declares it.
fn is_declared(file: &Path) -> bool {
    let folder = file.parent().unwrap();
    let is_folder = file.ends_with("mod.rs");
    let named = if is_folder { folder } else { file };
    let line = format!("mod {};", named.file_stem().unwrap().to_str().unwrap());
    let above = if is_folder { folder.parent().unwrap() } else { folder };
    let modules = [above.join("main.rs"), above.join("mod.rs"), above.with_extension("rs")];
    let mut texts = modules.iter().filter_map(|module| fs::read_to_string(module).ok());
    texts.any(|text| text.lines().any(|found| found == line))
}

/// A crate without examples in its comments says so, because looking for them takes a second and more; then it
/// must have none.
#[test]
fn every_example_of_a_comment_is_run() {
    for entry in fs::read_dir(workspace().join("crates")).unwrap() {
        let home = entry.unwrap().path();
        let manifest = fs::read_to_string(home.join("Cargo.toml")).unwrap();
        let mut files = Vec::new();
        sources(&home.join("src"), &mut files);
        let examples: usize = files.iter().map(|file| examples(file)).sum();
        let runs = !manifest.contains("\ndoctest = false\n");
        let readme = fs::read_to_string(home.join("src/lib.rs")).unwrap();
        let has_page = readme.contains("include_str!(\"../README.md\")");
        assert_eq!(runs, examples > 0 || has_page, "{}: {examples} examples", home.display());
    }
}

/// Counts the blocks of Rust in the comments of a file.
fn examples(file: &Path) -> usize {
    let text = fs::read_to_string(file).unwrap();
    let lines = text.lines().map(str::trim_start);
    let comments = lines
        .filter_map(|line| line.strip_prefix("/// ```").or_else(|| line.strip_prefix("//! ```")));
    // Every other fence closes a block.
    comments.step_by(2).filter(|language| language.is_empty() || *language == "rust").count()
}
