//! The targets of Rust under the names that package formats have for them.

use object::Endianness;
use object::elf::FileHeader64;
use object::read::elf::FileHeader;

use super::sbom::Component;

/// A target that packages are made for.
pub(super) struct Platform {
    pub(super) triple: &'static str,
    /// `os` and `cpu` of `package.json`, which are `process.platform` and `process.arch`.
    pub(super) node: (&'static str, &'static str),
    /// The architecture of a `.deb`.
    pub(super) deb: Option<&'static str>,
    /// The platform tag of a wheel; on Linux the part behind the version of the C library.
    wheel: &'static str,
}

pub(super) const PLATFORMS: [Platform; 6] = [
    Platform {
        triple: "x86_64-unknown-linux-gnu",
        node: ("linux", "x64"),
        deb: Some("amd64"),
        wheel: "x86_64",
    },
    Platform {
        triple: "aarch64-unknown-linux-gnu",
        node: ("linux", "arm64"),
        deb: Some("arm64"),
        wheel: "aarch64",
    },
    Platform {
        triple: "x86_64-apple-darwin",
        node: ("darwin", "x64"),
        deb: None,
        wheel: "macosx_10_12_x86_64",
    },
    Platform {
        triple: "aarch64-apple-darwin",
        node: ("darwin", "arm64"),
        deb: None,
        wheel: "macosx_11_0_arm64",
    },
    Platform {
        triple: "x86_64-pc-windows-msvc",
        node: ("win32", "x64"),
        deb: None,
        wheel: "win_amd64",
    },
    Platform {
        triple: "aarch64-pc-windows-msvc",
        node: ("win32", "arm64"),
        deb: None,
        wheel: "win_arm64",
    },
];

impl Platform {
    pub(super) fn from_triple(triple: &str) -> Result<&'static Platform, String> {
        let found = PLATFORMS.iter().find(|platform| platform.triple == triple);
        found.ok_or_else(|| format!("there are no packages for `{triple}`"))
    }

    pub(super) fn is_windows(&self) -> bool {
        self.node.0 == "win32"
    }

    fn is_linux(&self) -> bool {
        self.node.0 == "linux"
    }

    pub(super) fn executable(&self) -> &'static str {
        if self.is_windows() { "brief.exe" } else { "brief" }
    }

    pub(super) fn agent_executable(&self) -> &'static str {
        if self.is_windows() { "brief-agent.exe" } else { "brief-agent" }
    }

    /// Returns the platform tag of a wheel (PEP 425, 600 and 656). A program that contains its C library runs beside any; 2.17 and
    /// 1.1 are the oldest that installers ask for.
    pub(super) fn wheel_tag(&self, glibc: Option<(u32, u32)>) -> String {
        let architecture = self.wheel;
        match glibc {
            _ if !self.is_linux() => architecture.to_owned(),
            None => format!("manylinux_2_17_{architecture}.musllinux_1_1_{architecture}"),
            Some((major, minor)) => format!("manylinux_{major}_{minor}_{architecture}"),
        }
    }

    /// Returns the C library and the runtime of gcc, which a program without a dynamic one contains.
    pub(super) fn c_library(&self, glibc: Option<(u32, u32)>) -> Vec<Component> {
        if !self.is_linux() || glibc.is_some() {
            return Vec::new();
        }
        vec![
            Component::without_registry("glibc", "LGPL-2.1-or-later"),
            Component::without_registry("libgcc", "GPL-3.0-or-later WITH GCC-exception-3.1"),
        ]
    }
}

/// Returns the newest version of glibc that a program asks for; `None` if it is linked with no shared C library.
pub(super) fn required_glibc(program: &[u8]) -> Result<Option<(u32, u32)>, String> {
    if !program.starts_with(b"\x7fELF") {
        return Ok(None);
    }
    newest_glibc_version(program).map_err(|error| format!("the program is not readable: {error}"))
}

fn newest_glibc_version(program: &[u8]) -> object::read::Result<Option<(u32, u32)>> {
    let header = FileHeader64::<Endianness>::parse(program)?;
    let endian = header.endian()?;
    let sections = header.sections(endian, program)?;
    let Some((mut needs, link)) = sections.gnu_verneed(endian, program)? else { return Ok(None) };
    let strings = sections.strings(endian, program, link)?;
    let mut newest = None;
    while let Some((_, mut versions)) = needs.next()? {
        while let Some(version) = versions.next()? {
            newest = newest.max(glibc_version(version.name(endian, strings)?));
        }
    }
    Ok(newest)
}

/// Reads `GLIBC_2.34`. Compact relocations need the glibc that can load them, 2.36.
fn glibc_version(name: &[u8]) -> Option<(u32, u32)> {
    if name == b"GLIBC_ABI_DT_RELR" {
        return Some((2, 36));
    }
    let version = std::str::from_utf8(name).ok()?.strip_prefix("GLIBC_")?;
    let (major, rest) = version.split_once('.')?;
    Some((major.parse().ok()?, rest.split('.').next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_as_numbers() {
        assert_eq!(glibc_version(b"GLIBC_2.2.5"), Some((2, 2)));
        assert!(glibc_version(b"GLIBC_2.34") > glibc_version(b"GLIBC_2.4"));
        assert_eq!(glibc_version(b"GCC_3.0"), None);
    }

    /// A wheel for an old system is chosen by its tag alone.
    #[test]
    fn tags_of_wheels_name_the_c_library() {
        let linux = Platform::from_triple("x86_64-unknown-linux-gnu").unwrap();
        assert_eq!(linux.wheel_tag(Some((2, 34))), "manylinux_2_34_x86_64");
        assert_eq!(linux.wheel_tag(None), "manylinux_2_17_x86_64.musllinux_1_1_x86_64");
        let mac = Platform::from_triple("aarch64-apple-darwin").unwrap();
        assert_eq!(mac.wheel_tag(None), "macosx_11_0_arm64");
    }
}
