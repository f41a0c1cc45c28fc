//! Creates the files of a layout.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{AttackScene, text_or_empty};

impl AttackScene {
    /// Creates every entry of every group.
    pub(super) fn lay_out(&self, layout: &Value) {
        for group in ["home", "outside", "project", "registry"] {
            for entry in layout[group].as_array().into_iter().flatten() {
                self.create_entry(&self.root.join(group), entry);
            }
        }
        for (name, entries) in layout["registries"].as_object().into_iter().flatten() {
            for entry in entries.as_array().into_iter().flatten() {
                self.create_entry(&self.root.join(format!("registry_{name}")), entry);
            }
        }
    }

    fn create_entry(&self, base: &Path, entry: &Value) {
        let path = base.join(match entry["path_hex"].as_str() {
            Some(hex) => PathBuf::from(OsString::from_vec(bytes_of(hex))),
            None => PathBuf::from(self.fill_text(text_or_empty(&entry["path"]))),
        });
        let parent = path.parent().expect("an entry lies somewhere");
        fs::create_dir_all(parent).expect("directories can be made");
        let target = || PathBuf::from(self.fill_text(text_or_empty(&entry["target"])));
        match text_or_empty(&entry["type"]) {
            "ref" => {}
            "file" => {
                fs::write(&path, self.create_content(entry)).expect("files can be written");
                if let Some(mode) = entry["mode"].as_str() {
                    let mode = u32::from_str_radix(mode, 8).expect("a mode is octal");
                    let mode = fs::Permissions::from_mode(mode);
                    fs::set_permissions(&path, mode).expect("modes can be set");
                }
            }
            "symlink" => std::os::unix::fs::symlink(target(), &path).expect("links can be made"),
            "hardlink" => fs::hard_link(target(), &path).expect("links can be made"),
            "fifo" => crate::make_fifo(&path),
            "socket" => {
                drop(std::os::unix::net::UnixListener::bind(&path).expect("sockets can be made"));
            }
            "sparse" => {
                let file = fs::File::create(&path).expect("files can be written");
                file.set_len(entry["size"].as_u64().unwrap_or_default())
                    .expect("files can be long");
            }
            "deep_dir" => {
                fs::create_dir_all(&path).expect("directories can be made");
                let depth = entry["depth"].as_u64().unwrap_or_default();
                crate::chain::nest_directories(
                    &path,
                    usize::try_from(depth).expect("it fits in memory"),
                );
            }
            "many_files" => {
                fs::create_dir_all(&path).expect("directories can be made");
                for index in 0..entry["count"].as_u64().unwrap_or_default() {
                    let name = text_or_empty(&entry["name"]).replace("{n}", &index.to_string());
                    fs::write(path.join(name), text_or_empty(&entry["content"]))
                        .expect("files can be written");
                }
            }
            other => panic!("no layout has a `{other}`"),
        }
    }

    fn create_content(&self, entry: &Value) -> Vec<u8> {
        if let Some(hex) = entry["content_hex"].as_str() {
            return bytes_of(hex);
        }
        let Some(made) = entry["content_gen"].as_object() else {
            return self.fill_text(text_or_empty(&entry["content"])).into_bytes();
        };
        let part = |name: &str| made.get(name).map(text_or_empty).unwrap_or_default();
        let times = |name: &str| {
            let times = made.get(name).and_then(Value::as_u64).unwrap_or_default();
            usize::try_from(times).expect("it fits in memory")
        };
        let mut content = self.fill_text(part("prefix"));
        let unit = part("unit");
        if unit.contains("{n}") {
            for index in 0..times("times") {
                content.push_str(&unit.replace("{n}", &index.to_string()));
            }
        } else {
            content.push_str(&unit.repeat(times("times")));
        }
        content.push_str(&part("unit2").repeat(times("times2")));
        content.push_str(&self.fill_text(part("suffix")));
        content.into_bytes()
    }
}

fn bytes_of(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> = hex.bytes().collect();
    let byte = |pair: &[u8]| {
        let pair = std::str::from_utf8(pair).expect("hexadecimal digits");
        u8::from_str_radix(pair, 16).expect("hexadecimal digits")
    };
    digits.chunks(2).map(byte).collect()
}
