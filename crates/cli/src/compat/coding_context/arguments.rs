//! The arguments: flags with one dash or two, `-x value` or `-x=value`, before and after the task's
//! name.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use brief_engine::tasks::{Amount, CodingAgent};
use brief_runtime::PromptOptions;
use brief_runtime::assembly::Convention;

#[derive(Debug, Default)]
pub(super) struct CodingContextArguments {
    pub(super) options: PromptOptions,
    pub(super) directory: Option<PathBuf>,
    pub(super) writes_rules: bool,
}

#[derive(Debug)]
pub(super) enum Misuse {
    Help,
    Flag(String),
    Call(String),
}

impl Misuse {
    pub(super) fn is_about_flags(&self) -> bool {
        matches!(self, Misuse::Flag(_))
    }
}

impl std::fmt::Display for Misuse {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Misuse::Help => Ok(()),
            Misuse::Flag(problem) | Misuse::Call(problem) => formatter.write_str(problem),
        }
    }
}

fn flag_misuse(problem: impl Into<String>) -> Misuse {
    Misuse::Flag(problem.into())
}

impl CodingContextArguments {
    pub(super) fn parse(args: &[OsString]) -> Result<CodingContextArguments, Misuse> {
        let mut arguments = CodingContextArguments::default();
        arguments.options.directories.convention = Convention::CodingContext;
        let mut words: Vec<&OsStr> = Vec::new();
        let mut agents: [Option<CodingAgent>; 2] = [None, None];
        let mut rest = args.iter().map(OsString::as_os_str);
        while let Some(arg) = rest.next() {
            let Some((name, value)) = split_flag(arg) else {
                words.push(arg);
                continue;
            };
            if name.is_empty() {
                words.extend(rest.by_ref());
                break;
            }
            let on = || parse_switch(&name, value.as_deref());
            match name.as_str() {
                "h" | "help" => return Err(Misuse::Help),
                "r" => {
                    if on()? {
                        arguments.options.selectors.add_selector("resume", "true");
                        arguments.options.amount = Amount::TaskAlone;
                    }
                    continue;
                }
                "skip-bootstrap" => {
                    if on()? {
                        arguments.options.amount = Amount::TaskAlone;
                    }
                    continue;
                }
                "w" => {
                    arguments.writes_rules = on()?;
                    continue;
                }
                "C" | "d" | "D" | "m" | "p" | "s" | "a" | "A" => {}
                _ => return Err(flag_misuse(format!("flag provided but not defined: -{name}"))),
            }
            let value = value.or_else(|| rest.next().map(OsStr::to_owned));
            let Some(value) = value else {
                return Err(flag_misuse(format!("flag needs an argument: -{name}")));
            };
            arguments.set_flag(&name, value, &mut agents)?;
        }
        arguments.options.agent = match agents {
            [Some(_), Some(_)] => {
                return Err(Misuse::Call("-a and -A flags are mutually exclusive".to_owned()));
            }
            [strict, lenient] => strict.or(lenient),
        };
        let [name, prompt @ ..] = words.as_slice() else { return Err(wrong_count()) };
        if prompt.len() > 1 {
            return Err(wrong_count());
        }
        arguments.options.name = name.to_string_lossy().into_owned();
        arguments.options.prompt = prompt.first().map(|&prompt| prompt.to_owned());
        Ok(arguments)
    }

    fn set_flag(
        &mut self,
        name: &str,
        value: OsString,
        agents: &mut [Option<CodingAgent>; 2],
    ) -> Result<(), Misuse> {
        let options = &mut self.options;
        match name {
            "C" => self.directory = Some(PathBuf::from(value)),
            "d" => options.directories.given.push(value),
            "D" => options.directories.fallback.push(value),
            "m" => options.directories.manifest = Some(value),
            "p" => {
                let added = options.parameters.add_text(value.as_encoded_bytes());
                added.map_err(|error| flag_misuse(error.to_string()))?;
            }
            "s" => {
                let added = options.selectors.add_text(&value.to_string_lossy());
                added.map_err(|error| flag_misuse(error.to_string()))?;
            }
            _ => {
                let agent = value.to_string_lossy();
                let known = CodingAgent::from_name(&agent).ok_or_else(|| {
                    flag_misuse(format!(
                        "unknown agent: {agent} (supported: {})",
                        CodingAgent::list_names().join(", ")
                    ))
                })?;
                agents[usize::from(name == "A")] = Some(known);
            }
        }
        Ok(())
    }
}

fn wrong_count() -> Misuse {
    let problem = "invalid usage: expected one task name argument and optional user-prompt";
    Misuse::Call(problem.to_owned())
}

/// Splits a flag; `None` for a word. Two dashes alone end the flags.
fn split_flag(arg: &OsStr) -> Option<(String, Option<OsString>)> {
    let bytes = arg.as_encoded_bytes();
    let name = bytes.strip_prefix(b"-")?;
    let name = name.strip_prefix(b"-").unwrap_or(name);
    if name.is_empty() && bytes.len() == 1 {
        return None;
    }
    let end = name.iter().position(|&byte| byte == b'=');
    let start = bytes.len() - name.len();
    let text = arg.to_string_lossy();
    let Some(end) = end else { return Some((text[start..].to_owned(), None)) };
    let value = value_of(bytes, start + end + 1);
    Some((String::from_utf8_lossy(&name[..end]).into_owned(), Some(value)))
}

/// Returns the bytes after the `=`.
fn value_of(bytes: &[u8], start: usize) -> OsString {
    #[cfg(unix)]
    return <OsString as std::os::unix::ffi::OsStringExt>::from_vec(bytes[start..].to_vec());
    #[cfg(not(unix))]
    return String::from_utf8_lossy(&bytes[start..]).into_owned().into();
}

/// Returns the value of a boolean flag.
fn parse_switch(name: &str, value: Option<&OsStr>) -> Result<bool, Misuse> {
    match value.map(OsStr::to_string_lossy).as_deref() {
        None | Some("1" | "t" | "T" | "true" | "TRUE" | "True") => Ok(true),
        Some("0" | "f" | "F" | "false" | "FALSE" | "False") => Ok(false),
        Some(other) => Err(flag_misuse(format!("invalid boolean value {other:?} for -{name}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(args: &[&str]) -> Result<CodingContextArguments, String> {
        let args: Vec<OsString> = args.iter().map(OsString::from).collect();
        CodingContextArguments::parse(&args).map_err(|misuse| misuse.to_string())
    }

    #[test]
    fn flags_stand_anywhere_with_one_dash_or_two() {
        let arguments =
            parse(&["-p", "a=1", "task", "--p=b=2", "-r", "do it", "-C=x", "-w=false"]).unwrap();
        assert_eq!(arguments.options.name, "task");
        assert_eq!(arguments.options.prompt, Some("do it".into()));
        assert_eq!(arguments.options.parameters.get("b"), Some(b"2".as_slice()));
        assert!(arguments.options.amount == Amount::TaskAlone && !arguments.writes_rules);
        assert_eq!(arguments.directory, Some("x".into()));
    }

    #[test]
    fn after_two_dashes_everything_is_a_word() {
        let arguments = parse(&["task", "--", "-r"]).unwrap();
        assert_eq!(arguments.options.prompt, Some("-r".into()));
        assert_eq!(parse(&["-", "x"]).unwrap().options.name, "-");
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (args, problem) in [
            (&["--zzz", "t"][..], "flag provided but not defined: -zzz"),
            (&["t", "-p"], "flag needs an argument: -p"),
            (&["-p", "foo", "t"], "failed to parse parameter 'foo': expected key=value"),
            (&["-s", "foo", "t"], "invalid selector format: foo"),
            (&["-r=maybe", "t"], "invalid boolean value \"maybe\" for -r"),
            (&["-a", "cursor", "-A", "claude", "t"], "-a and -A flags are mutually exclusive"),
            (&[], "invalid usage: expected one task name argument and optional user-prompt"),
            (
                &["a", "b", "c"],
                "invalid usage: expected one task name argument and optional user-prompt",
            ),
        ] {
            assert_eq!(parse(args).unwrap_err(), problem);
        }
    }
}
