//! Debian's `docker-registry` on a port of this machine, a proxy in front of it that makes trouble, and keys.

use std::fs;
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};

use brief_testkit::Sandbox;

/// Made with `openssl genpkey -algorithm ed25519`.
pub(crate) const KEY_A: &str = "-----BEGIN PRIVATE KEY-----\n\
    MC4CAQAwBQYDK2VwBCIEIOYILcPF2MazdbE1XlJQv1YHLaQ0x/FRbLNSeaQXnYFI\n\
    -----END PRIVATE KEY-----\n";

/// Made with `openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256`.
pub(crate) const KEY_B: &str = "-----BEGIN PRIVATE KEY-----\n\
    MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgZuWF369y8/SHuIzV\n\
    eJRTBTDCoX3oaX4zKyQzmQA1SFahRANCAARbo7l2XecOC8X3PsV+NdGweXAllpdF\n\
    XxYFc8/x9KvSPpk6mih2EOYuFVA7LvIiJhNZJoiN5welwwCXgecKpkFJ\n\
    -----END PRIVATE KEY-----\n";

/// A certificate for this machine, its key, and the authority that signed it. Valid for a hundred years.
const CERTIFICATE: &str = "-----BEGIN CERTIFICATE-----\n\
    MIIBrTCCAVOgAwIBAgIUAY96yhD1jvapBYN4ub2RR53Vj+gwCgYIKoZIzj0EAwIw\n\
    GDEWMBQGA1UEAwwNT3duIGF1dGhvcml0eTAgFw0yNjExMTgwMTUxMzJaGA8yMTI2\n\
    MTAyNTAxNTEzMlowEzERMA8GA1UEAwwIcmVnaXN0cnkwWTATBgcqhkjOPQIBBggq\n\
    hkjOPQMBBwNCAARY1845djpIXTte/qfaz82wROf8/+Eg09ens8IboZobMkPwa5dw\n\
    G3da9qE2GdBraXk1NyP2Mb8Y5+u/tmCVceClo34wfDAaBgNVHREEEzARhwR/AAAB\n\
    gglsb2NhbGhvc3QwCQYDVR0TBAIwADATBgNVHSUEDDAKBggrBgEFBQcDATAdBgNV\n\
    HQ4EFgQUW/spJl1mNxonSIFYiKHsdh1H7wAwHwYDVR0jBBgwFoAUtC5c76yKmDxX\n\
    /7H8f/ILoFCn0GgwCgYIKoZIzj0EAwIDSAAwRQIgZyMJ5mFFGgxrLnoRLYY+Uwzg\n\
    K1SaKyXoBTyk/wE2fEcCIQCrYYN8eSkG/+n54HXBlDn65pERmdxUA7mE8xgU/YDt\n\
    TA==\n\
    -----END CERTIFICATE-----\n";
const CERTIFICATE_KEY: &str = "-----BEGIN PRIVATE KEY-----\n\
    MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgWFn9dVCmbYzwryZO\n\
    fi7Aiw9dbtlCyJ9rKQ1psxaUWOShRANCAARY1845djpIXTte/qfaz82wROf8/+Eg\n\
    09ens8IboZobMkPwa5dwG3da9qE2GdBraXk1NyP2Mb8Y5+u/tmCVceCl\n\
    -----END PRIVATE KEY-----\n";
pub(crate) const AUTHORITY: &str = "-----BEGIN CERTIFICATE-----\n\
    MIIBhjCCAS2gAwIBAgIUHBW8MWi19+WDtf08GnGay0WFL7wwCgYIKoZIzj0EAwIw\n\
    GDEWMBQGA1UEAwwNT3duIGF1dGhvcml0eTAgFw0yNjExMTgwMTUxMzJaGA8yMTI2\n\
    MTAyNTAxNTEzMlowGDEWMBQGA1UEAwwNT3duIGF1dGhvcml0eTBZMBMGByqGSM49\n\
    AgEGCCqGSM49AwEHA0IABKkWUVHa8at1T88mmkjO4h7fNFJgdxWAoLiaTYhO5rnN\n\
    RX8ggPqHjM/+QLKvOuh6MBo4vM7lsCByZnTvumDkJ2ijUzBRMB0GA1UdDgQWBBS0\n\
    LlzvrIqYPFf/sfx/8gugUKfQaDAfBgNVHSMEGDAWgBS0LlzvrIqYPFf/sfx/8gug\n\
    UKfQaDAPBgNVHRMBAf8EBTADAQH/MAoGCCqGSM49BAMCA0cAMEQCIHai2XhmEELf\n\
    tkRYT+YptYtghegSLu+I0tWoVZPC7lvjAiAlgdj2xDzIZmBxLAgZnYVebiYEtkmA\n\
    ljVG0UPRW/cX0A==\n\
    -----END CERTIFICATE-----\n";

/// The account `ann` with the password `word`, by `htpasswd -B`.
const ACCOUNT: &str = "ann:$2y$05$WAuj2dS9JKvg1f.sPeRG..7QwrEiS1mCWB2Ce77aKcwCCEV35GbuG\n";

/// The kind of registry to start.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Door {
    Open,
    /// An account is needed.
    Accounts,
    /// Encrypted, with a certificate of an own authority.
    Encrypted,
}

/// A registry that ends with the test.
pub(crate) struct ContainerRegistry {
    child: Child,
    pub(crate) port: u16,
    store: PathBuf,
}

impl ContainerRegistry {
    pub(crate) fn start(beside: &Sandbox, door: Door) -> ContainerRegistry {
        // A port may be taken between the look and the start.
        (0..5)
            .find_map(|number| {
                ContainerRegistry::try_start(&beside.outside_directory(), door, number)
            })
            .expect("`docker-registry` starts")
    }

    fn try_start(outside: &Path, door: Door, number: usize) -> Option<ContainerRegistry> {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let directory = outside.join(format!("registry-{number}-{port}"));
        let store = directory.join("store");
        fs::create_dir_all(&store).unwrap();
        for (name, text) in
            [("accounts", ACCOUNT), ("certificate.pem", CERTIFICATE), ("key.pem", CERTIFICATE_KEY)]
        {
            fs::write(directory.join(name), text).unwrap();
        }
        let place = |name: &str| directory.join(name).display().to_string();
        let mut config = format!(
            "version: 0.1\nlog: {{level: error, accesslog: {{disabled: true}}}}\n\
             storage: {{filesystem: {{rootdirectory: {}}}}}\nhttp:\n  addr: 127.0.0.1:{port}\n",
            place("store")
        );
        match door {
            Door::Open => {}
            Door::Accounts => config.push_str(&format!(
                "auth: {{htpasswd: {{realm: own, path: {}}}}}\n",
                place("accounts")
            )),
            Door::Encrypted => config.push_str(&format!(
                "  tls: {{certificate: {}, key: {}}}\n",
                place("certificate.pem"),
                place("key.pem")
            )),
        }
        fs::write(directory.join("config.yml"), config).unwrap();
        let child = Command::new("docker-registry")
            .args(["serve", &place("config.yml")])
            .env_clear()
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the test needs it");
        let mut registry = ContainerRegistry { child, port, store };
        let has_started = brief_testkit::wait_for("the registry starts", || {
            let is_open = TcpStream::connect(("127.0.0.1", port)).is_ok();
            (is_open || registry.child.try_wait().unwrap().is_some()).then_some(is_open)
        });
        has_started.then_some(registry)
    }

    /// Returns the address of a repository.
    pub(crate) fn at(&self, path: &str) -> String {
        format!("oci://127.0.0.1:{}/{path}", self.port)
    }

    /// Returns the manifest that a tag leads to.
    pub(crate) fn manifest(&self, path: &str, tag: &str) -> Vec<u8> {
        let tags =
            self.store.join("docker/registry/v2/repositories").join(path).join("_manifests/tags");
        let digest = fs::read_to_string(tags.join(tag).join("current/link")).unwrap();
        fs::read(self.content(digest.trim())).unwrap()
    }

    /// Returns the file that holds some content.
    pub(crate) fn content(&self, digest: &str) -> PathBuf {
        let digits = digest.trim_start_matches("sha256:");
        let blobs = self.store.join("docker/registry/v2/blobs/sha256");
        blobs.join(&digits[..2]).join(digits).join("data")
    }

    pub(crate) fn stop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for ContainerRegistry {
    fn drop(&mut self) {
        self.stop();
    }
}

/// The fate of a request.
#[derive(Clone)]
pub(crate) enum Trouble {
    None,
    /// The registry's answer is replaced.
    Answer(Vec<u8>),
    /// The registry's answer arrives in half.
    Cut,
    /// The connection is closed without an answer.
    Silence,
    /// The answer never comes.
    Never,
}

impl Trouble {
    /// Makes an answer with a status, fields and a body.
    pub(crate) fn status(status: &str, fields: &str, body: &[u8]) -> Trouble {
        let length = body.len();
        let head = format!(
            "HTTP/1.1 {status}\r\n{fields}content-length: {length}\r\nconnection: close\r\n\r\n"
        );
        Trouble::Answer([head.as_bytes(), body].concat())
    }
}

type Fate = Box<dyn Fn(usize, &str) -> Trouble + Send>;

/// A proxy in front of a registry.
pub(crate) struct Proxy {
    pub(crate) port: u16,
    fate: Arc<Mutex<Fate>>,
    seen: Arc<Mutex<Vec<String>>>,
}

impl Proxy {
    /// Starts a proxy to a port of this machine.
    pub(crate) fn to(port: u16) -> Proxy {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let own = listener.local_addr().unwrap().port();
        let fate: Arc<Mutex<Fate>> = Arc::new(Mutex::new(Box::new(|_, _| Trouble::None)));
        let seen: Arc<Mutex<Vec<String>>> = Arc::default();
        let proxy = Proxy { port: own, fate: Arc::clone(&fate), seen: Arc::clone(&seen) };
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (fate, seen) = (Arc::clone(&fate), Arc::clone(&seen));
                std::thread::spawn(move || {
                    let _ = pass(stream, port, &fate, &seen);
                });
            }
        });
        proxy
    }

    pub(crate) fn at(&self, path: &str) -> String {
        format!("oci://127.0.0.1:{}/{path}", self.port)
    }

    /// Forgets the requests so far, and decides about the next ones by number and first line.
    pub(crate) fn decide(&self, fate: impl Fn(usize, &str) -> Trouble + Send + 'static) {
        self.seen.lock().unwrap().clear();
        *self.fate.lock().unwrap() = Box::new(fate);
    }

    /// Returns the first lines of the requests.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.seen.lock().unwrap().clone()
    }
}

fn pass(
    mut stream: TcpStream,
    port: u16,
    fate: &Mutex<Fate>,
    seen: &Mutex<Vec<String>>,
) -> std::io::Result<()> {
    let mut request = Vec::new();
    let mut piece = [0; 16 * 1024];
    let end = loop {
        if let Some(end) = request.windows(4).position(|window| window == b"\r\n\r\n") {
            break end + 4;
        }
        match stream.read(&mut piece)? {
            0 => return Ok(()),
            count => request.extend_from_slice(&piece[..count]),
        }
    };
    let head = String::from_utf8_lossy(&request[..end]).into_owned();
    let field = |name: &str| {
        let lines = head.lines().filter_map(|line| line.split_once(':'));
        let mut found = lines.filter(|(key, _)| key.eq_ignore_ascii_case(name));
        found.next().map(|(_, value)| value.trim().to_owned())
    };
    let length: usize = field("content-length").and_then(|text| text.parse().ok()).unwrap_or(0);
    while request.len() < end + length {
        match stream.read(&mut piece)? {
            0 => return Ok(()),
            count => request.extend_from_slice(&piece[..count]),
        }
    }
    let line = head.lines().next().unwrap_or_default().trim_end_matches(" HTTP/1.1").to_owned();
    let number = {
        let mut seen = seen.lock().unwrap();
        let account = field("authorization").map_or("", |_| " with an account");
        seen.push(format!("{line}{account}"));
        seen.len() - 1
    };
    let trouble = fate.lock().unwrap()(number, &line);
    let answer = |request: &[u8]| -> std::io::Result<Vec<u8>> {
        let mut upstream = TcpStream::connect(("127.0.0.1", port))?;
        let lines = head
            .trim_end()
            .lines()
            .filter(|line| !line.to_ascii_lowercase().starts_with("connection:"));
        let lines: Vec<&str> = lines.collect();
        upstream.write_all(lines.join("\r\n").as_bytes())?;
        upstream.write_all(b"\r\nconnection: close\r\n\r\n")?;
        upstream.write_all(&request[end..])?;
        let mut answer = Vec::new();
        upstream.read_to_end(&mut answer)?;
        Ok(answer)
    };
    match trouble {
        Trouble::None => stream.write_all(&answer(&request)?),
        Trouble::Answer(bytes) => stream.write_all(&bytes),
        Trouble::Cut => {
            let whole = answer(&request)?;
            stream.write_all(&whole[..whole.len() / 2])
        }
        Trouble::Silence => Ok(()),
        // Until the other side gives up.
        Trouble::Never => io::copy(&mut stream, &mut io::sink()).map(drop),
    }
}
