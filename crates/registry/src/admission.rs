//! The check of a source against the policy.

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use brief_safety::policy::{Policy, PolicyDecision, SourcePlace};
use brief_syntax::limits;
use brief_system::{Call, Passed, System};

use crate::address::Address;
use crate::git::{CHATTER, GitOutcome, hardened_call, run_call};
use crate::oci::OciPlace;
use crate::source::SourceAddress;

impl SourceAddress {
    /// Returns the policy decision that forbids this source, if one does. `base` is the start of relative
    /// directories.
    pub fn forbidden_by(
        &self,
        policy: &Policy,
        system: &dyn System,
        base: &Path,
    ) -> Option<PolicyDecision> {
        if policy.files().len() == 0 {
            return None;
        }
        let place = self.resolve_place(system, base);
        let of_artifact = || match self {
            SourceAddress::Oci(oci) => policy.find_artifact_rule(&place, oci.digest().is_some()),
            _ => None,
        };
        let real = self.real_places(system, base);
        let real = if real.is_empty() { std::slice::from_ref(&place) } else { &real };
        let decision = policy.redirected_source(&place, real).map(|mut decision| {
            if let [read, ..] = real
                && *read != place
            {
                decision.rule.push_str(&format!(", and git reads this from `{read}`"));
            }
            decision
        });
        decision.or_else(of_artifact)
    }

    /// Returns the place of a repository that git would read, by each name that it has: settings of the user may lead git elsewhere
    /// (`insteadOf`), and ssh to another host (`HostName`). Empty if git cannot tell, which then fetches nothing, and for other sources.
    fn real_places(&self, system: &dyn System, base: &Path) -> Vec<SourcePlace> {
        let SourceAddress::Git(git) = self else { return Vec::new() };
        let Some(url) =
            git.address().ok().and_then(|address| find_rewritten_address(system, base, &address))
        else {
            return Vec::new();
        };
        let mut places = vec![match SourcePlace::of_address(&url) {
            SourcePlace::Directory(path) => {
                SourcePlace::Directory(system.resolve(&path).map_or(path, |found| found.path))
            }
            place => place,
        }];
        places.extend(ssh_address(system, base, &url).map(|url| SourcePlace::of_address(&url)));
        places
    }

    /// Returns the place of the source, as the patterns of a policy name it.
    pub(crate) fn resolve_place(&self, system: &dyn System, base: &Path) -> SourcePlace {
        let resolved = |path: &Path| {
            let path = base.join(path);
            system.resolve(&path).map_or(path, |found| found.path)
        };
        match self {
            SourceAddress::Directory(path) => SourcePlace::Directory(resolved(path)),
            SourceAddress::Git(git) => match git.address() {
                Ok(address) => match SourcePlace::of_address(&address) {
                    SourcePlace::Directory(path) => SourcePlace::Directory(resolved(&path)),
                    place => place,
                },
                Err(_) => SourcePlace::Unclear,
            },
            SourceAddress::Oci(oci) => match &oci.place {
                OciPlace::Registry { .. } => SourcePlace::of_address(&oci.repository()),
                OciPlace::Layout(path) => SourcePlace::Directory(resolved(path)),
            },
        }
    }
}

/// Returns the address that git would use instead of `address`, by the settings of the user.
fn find_rewritten_address(system: &dyn System, base: &Path, address: &str) -> Option<String> {
    let args = ["ls-remote", "--get-url", "--", address].map(OsString::from).to_vec();
    // Settings of a repository around the directory do not count.
    let top = base.ancestors().last()?;
    line_of(system, &hardened_call(system, top, args, CHATTER), |line| Some(line.to_owned()))
}

/// Returns an address over ssh with the host that ssh would connect to, by the settings of the user; `None` for other addresses.
fn ssh_address(system: &dyn System, base: &Path, url: &str) -> Option<String> {
    let (authority, path) = match Address::parse(url).ok()? {
        Address::Url { scheme, host, path, .. } if scheme == "ssh" => (host, path),
        Address::Url { .. } => return None,
        Address::Remote(text) => {
            let (authority, path) = text.split_once(':')?;
            (authority.to_owned(), format!("/{}", path.trim_start_matches('/')))
        }
    };
    let host = authority.rsplit_once('@').map_or(&*authority, |(_, host)| host);
    let (host, port) = host.split_once(':').unwrap_or((host, ""));
    let limit = Duration::from_secs(limits::REMOTE_SECONDS);
    let mut call = Call::new("ssh", base.ancestors().last()?, limit, CHATTER).arg("-G");
    if !port.is_empty() {
        call = call.arg("-p").arg(port);
    }
    let call = Passed::Usual(Vec::new()).apply(system, call.arg("--").arg(host));
    let named = line_of(system, &call, |line| Some(line.strip_prefix("hostname ")?.to_owned()))?;
    let port = if port.is_empty() { String::new() } else { format!(":{port}") };
    Some(format!("ssh://{named}{port}{path}"))
}

/// Runs a program, and returns the first line of its answer that `read` takes.
fn line_of(
    system: &dyn System,
    call: &Call,
    read: impl Fn(&str) -> Option<String>,
) -> Option<String> {
    let Ok(GitOutcome::Done(output)) = run_call(system, call) else { return None };
    String::from_utf8_lossy(&output).lines().find_map(|line| read(line.trim()))
}
