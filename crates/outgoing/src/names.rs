//! Looks up the addresses of host names.
//!
//! The program is linked with a static C library where that is possible, and a static library must not load
//! the name service modules of the system that it runs on: they are made for that system's own version.
//! So `getent`, which every Linux system has, is asked. Systems without it resolve names in this process. The HTTP
//! library asks for every request, also where a connection is open, so an answer is kept for a while.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use brief_system::{Call, Ending, Environment, Machine, OsSystem, Stream, System};
use ureq::config::Config;
use ureq::http::Uri;
use ureq::unversioned::resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::NextTimeout;

/// The time limit of a lookup; a slower name server counts as absent.
const LOOKUP_TIME: Duration = Duration::from_secs(30);
/// The limit for the output; `getent` prints some 40 bytes for each address.
const OUTPUT_BYTES: usize = 64 * 1024;

/// The time for which an answer is used again.
const KEPT: Duration = Duration::from_mins(1);

/// The limit of the HTTP library for addresses.
const MOST_ADDRESSES: usize = 16;

/// Resolves host names by the configuration of the system.
#[derive(Debug, Default)]
pub struct Names {
    in_process: DefaultResolver,
    known: Mutex<BTreeMap<String, (SystemTime, Vec<IpAddr>)>>,
}

impl Names {
    /// Returns the addresses of a name that were looked up a moment ago, or looks them up.
    fn resolve_addresses(
        &self,
        host: &str,
        now: SystemTime,
        look_up: impl FnOnce() -> Lookup,
    ) -> Lookup {
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((since, addresses)) = known().get(host)
            && now.duration_since(*since).is_ok_and(|age| age < KEPT)
        {
            return Lookup::Found(addresses.clone());
        }
        let found = look_up();
        if let Lookup::Found(addresses) = &found {
            known().insert(host.to_owned(), (now, addresses.clone()));
        }
        found
    }
}

impl Resolver for Names {
    fn resolve(
        &self,
        uri: &Uri,
        config: &Config,
        timeout: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, ureq::Error> {
        let port = uri.port_u16().or(match uri.scheme_str() {
            Some("https") => Some(443),
            Some("http") => Some(80),
            _ => None,
        });
        let (Some(host), Some(port)) = (uri.host(), port) else {
            return self.in_process.resolve(uri, config, timeout);
        };
        let patience = LOOKUP_TIME.min(*timeout.after);
        let found = match (parse_ip_address(host), cfg!(target_os = "linux")) {
            (Some(address), _) => Lookup::Found(vec![address]),
            (None, false) => Lookup::NoProgram,
            (None, true) => {
                let now = OsSystem.now();
                self.resolve_addresses(host, now, || look_up(&OsSystem, host, patience))
            }
        };
        match found {
            Lookup::Found(addresses) => {
                let all = addresses.into_iter().map(|address| SocketAddr::new(address, port));
                let family = config.ip_family();
                let mut result = self.empty();
                family
                    .keep_wanted(all)
                    .take(MOST_ADDRESSES)
                    .for_each(|address| result.push(address));
                if result.is_empty() { Err(ureq::Error::HostNotFound) } else { Ok(result) }
            }
            Lookup::Unknown => Err(ureq::Error::HostNotFound),
            Lookup::TimedOut => Err(ureq::Error::Timeout(timeout.reason)),
            Lookup::NoProgram => self.in_process.resolve(uri, config, timeout),
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Lookup {
    Found(Vec<IpAddr>),
    Unknown,
    TimedOut,
    NoProgram,
}

/// Returns the address that a host is written as; a name is none.
fn parse_ip_address(host: &str) -> Option<IpAddr> {
    let inner = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    inner.unwrap_or(host).parse().ok()
}

fn look_up(system: &dyn System, host: &str, patience: Duration) -> Lookup {
    let mut call = Call::new("getent", "/", patience, OUTPUT_BYTES);
    call.environment = Environment::Path;
    let call = call.arg("ahosts").arg("--").arg(host);
    let mut output = Vec::new();
    let ending = system.run_program(&call, &mut |stream, bytes| {
        if stream == Stream::Stdout {
            output.extend_from_slice(bytes);
        }
    });
    match ending {
        Ok(Ending::Exited(0)) => Lookup::Found(parse_addresses(&String::from_utf8_lossy(&output))),
        // The status for an unknown key.
        Ok(Ending::Exited(2)) => Lookup::Unknown,
        Ok(Ending::TimedOut) => Lookup::TimedOut,
        Ok(_) | Err(_) => Lookup::NoProgram,
    }
}

/// Parses lines such as `192.0.2.7  STREAM example.com`. Each address comes once per kind of socket.
fn parse_addresses(output: &str) -> Vec<IpAddr> {
    let streams = output.lines().filter_map(|line| {
        let mut words = line.split_whitespace();
        let address = words.next()?;
        words.next().filter(|kind| *kind == "STREAM")?;
        address.parse().ok()
    });
    streams.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_address_is_read_once() {
        let output = "192.0.2.7       STREAM example.com\n192.0.2.7       DGRAM  \n2001:db8::1 STREAM \n\
                      fe80::1%eth0 STREAM \nnonsense\n";
        let expected: [IpAddr; 2] =
            [[192, 0, 2, 7].into(), [0x2001, 0xdb8, 0, 0, 0, 0, 0, 1].into()];
        assert_eq!(parse_addresses(output), expected);
    }

    #[test]
    fn addresses_need_no_lookup() {
        assert_eq!(parse_ip_address("example.com"), None);
        assert_eq!(parse_ip_address("localhost"), None);
        assert_eq!(parse_ip_address("127.0.0.1"), Some([127, 0, 0, 1].into()));
        assert_eq!(parse_ip_address("[::1]"), Some(IpAddr::from([0, 0, 0, 0, 0, 0, 0, 1])));
        assert_eq!(parse_ip_address("[::1"), None);
    }

    /// A source with 400 items takes 800 requests, and each would start a process.
    #[test]
    fn a_name_is_looked_up_once_a_minute() {
        let (names, start, count) =
            (Names::default(), SystemTime::UNIX_EPOCH, std::cell::Cell::new(0));
        let ask = |host: &str, after: Duration, answer: Lookup| {
            let found = names.resolve_addresses(host, start + after, || {
                count.set(count.get() + 1);
                answer
            });
            (found, count.get())
        };
        let found = || Lookup::Found(vec![[192, 0, 2, 7].into()]);
        let second = Duration::from_secs(1);
        // A failure is not kept.
        assert_eq!(ask("a.example", Duration::ZERO, Lookup::Unknown), (Lookup::Unknown, 1));
        assert_eq!(ask("a.example", second, found()), (found(), 2));
        assert_eq!(ask("a.example", second * 30, Lookup::Unknown), (found(), 2));
        assert_eq!(ask("b.example", second * 30, Lookup::Unknown), (Lookup::Unknown, 3));
        assert_eq!(ask("a.example", second * 61, Lookup::TimedOut), (Lookup::TimedOut, 4));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_system_knows_its_own_name_and_no_invented_one() {
        let Lookup::Found(addresses) = look_up(&OsSystem, "localhost", LOOKUP_TIME) else {
            panic!("`getent ahosts localhost` finds an address on every Linux system");
        };
        assert!(addresses.iter().all(IpAddr::is_loopback), "{addresses:?}");
        let unknown = look_up(&OsSystem, "--no-such-option.invalid", LOOKUP_TIME);
        assert!(matches!(unknown, Lookup::Unknown | Lookup::TimedOut), "{unknown:?}");
    }
}
