//! Calls that a worker must not make, each in a separate process behind the fences.

use std::io::{self, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::unix::net::{UnixDatagram, UnixListener, UnixStream};
use std::process::{Command, ExitCode};

use brief_agent::sandbox::{Landlock, enter_fences};

/// The memory limit for the tools.
const MEMORY: usize = 64 << 20;

type Attempt = (&'static str, fn() -> io::Result<()>);

/// Calls that must fail, because of the list of system calls.
const FORBIDDEN: [Attempt; 33] = [
    ("open a file", || std::fs::File::open("/etc/passwd").map(drop)),
    ("open its own program", || std::fs::File::open("/proc/self/exe").map(drop)),
    ("create a file", || std::fs::File::create("/tmp/brief-fence").map(drop)),
    ("stat a file", || std::fs::metadata("/etc/passwd").map(drop)),
    ("list a directory", || std::fs::read_dir("/").map(drop)),
    ("make a directory", || std::fs::create_dir("/tmp/brief-fence")),
    ("remove a file", || std::fs::remove_file("/tmp/brief-fence")),
    ("read a link", || std::fs::read_link("/proc/self/exe").map(drop)),
    ("change directory", || std::env::set_current_dir("/")),
    ("start a program", || Command::new("/bin/true").status().map(drop)),
    ("start a thread", || std::thread::Builder::new().spawn(|| {}).map(drop)),
    ("connect by TCP", || TcpStream::connect("127.0.0.1:9").map(drop)),
    ("listen by TCP", || TcpListener::bind("127.0.0.1:0").map(drop)),
    ("send by UDP", || UdpSocket::bind("0.0.0.0:0").map(drop)),
    ("connect to a UNIX socket", || UnixStream::connect("/run/brief").map(drop)),
    ("listen on a UNIX socket", || UnixListener::bind("/tmp/brief-fence").map(drop)),
    ("make a pair of sockets", || UnixDatagram::pair().map(drop)),
    ("speak netlink", || {
        use rustix::net::{AddressFamily, SocketType, socket};
        Ok(socket(AddressFamily::NETLINK, SocketType::RAW, None).map(drop)?)
    }),
    ("set up io_uring", || io_uring::IoUring::new(4).map(drop)),
    ("unshare its user", || Ok(nix::sched::unshare(nix::sched::CloneFlags::CLONE_NEWUSER)?)),
    ("unshare its network", || Ok(nix::sched::unshare(nix::sched::CloneFlags::CLONE_NEWNET)?)),
    ("be traced", || Ok(nix::sys::ptrace::traceme()?)),
    ("trace its parent", || Ok(nix::sys::ptrace::attach(nix::unistd::Pid::from_raw(1))?)),
    ("signal a process", || Ok(rustix::process::test_kill_process(rustix::process::Pid::INIT)?)),
    ("make a pipe", || Ok(rustix::pipe::pipe().map(drop)?)),
    ("copy a descriptor", || Ok(rustix::io::dup(rustix::stdio::stdin()).map(drop)?)),
    ("make a file in memory", || {
        Ok(rustix::fs::memfd_create("x", rustix::fs::MemfdFlags::empty()).map(drop)?)
    }),
    ("count events", || {
        Ok(rustix::event::eventfd(0, rustix::event::EventfdFlags::empty()).map(drop)?)
    }),
    ("watch descriptors", || {
        Ok(rustix::event::epoll::create(rustix::event::epoll::CreateFlags::empty()).map(drop)?)
    }),
    ("become dumpable", || {
        Ok(rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::Dumpable)?)
    }),
    ("mount", || Ok(rustix::mount::mount_bind("/", "/")?)),
    ("change its name for the system", || Ok(rustix::thread::set_name(c"x")?)),
    ("become the leader of a session", || Ok(rustix::process::setsid().map(drop)?)),
];

/// Calls that must work.
const NEEDED: [Attempt; 5] = [
    ("allocate", || {
        let mut bytes = vec![1_u8; 32 << 20];
        bytes.resize(48 << 20, 2);
        if bytes.iter().map(|byte| usize::from(*byte)).sum::<usize>() == 64 << 20 {
            return Ok(());
        }
        Err(io::Error::other("the memory has other bytes"))
    }),
    ("read", || io::Read::read(&mut io::stdin(), &mut [0; 8]).map(drop)),
    ("write", || io::stdout().write_all(b"")),
    ("ask for the time", || {
        let _ = (std::time::Instant::now(), std::time::SystemTime::now());
        let _ = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
        Ok(())
    }),
    ("draw random numbers", || {
        drop(std::collections::HashMap::<u8, u8>::new());
        Ok(())
    }),
];

/// Enters the fences, makes an attempt, and reports its result.
pub(crate) fn make(name: &str) -> ExitCode {
    let attempts = FORBIDDEN.iter().chain(&NEEDED);
    let (_, attempt) = attempts.into_iter().find(|(known, _)| *known == name).unwrap();
    let fences = enter_fences(MEMORY).unwrap();
    assert!(fences.seccomp && fences.landlock != Landlock::Missing, "{fences:?}");
    match attempt() {
        Ok(()) => println!("done"),
        Err(error) => println!("{:?}", error.raw_os_error()),
    }
    ExitCode::SUCCESS
}

fn ended(name: &str) -> String {
    let mut command = Command::new(std::env::current_exe().unwrap());
    let output = command.args(["attempt", name]).stdin(std::process::Stdio::null()).output();
    let output = output.unwrap();
    assert!(output.status.success(), "{name}: {output:?}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// X07, S9: files, sockets, `io_uring`, netlink, namespaces, tracing, other processes.
pub(crate) fn x07_forbidden_calls_fail() {
    let refused = format!("{:?}", Some(nix::libc::EPERM));
    for (name, _) in FORBIDDEN {
        assert_eq!(ended(name), refused, "{name}");
    }
}

pub(crate) fn x07_calls_that_a_worker_needs_work() {
    for (name, _) in NEEDED {
        assert_eq!(ended(name), "done", "{name}");
    }
}
