//! The socket and the token of `brief mcp --http`.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};

use brief_serve::mcp::HttpOptions;
use brief_system::hash::sha256;

use super::ServeArgs;
use crate::error::{CommandError, Result};
use crate::session::Session;
use crate::ui::Ui;

/// The fewest characters of a token.
const SHORTEST_TOKEN: usize = 16;

/// The limit for the bytes of a token's file.
const TOKEN_BYTES: u64 = 4096;

/// Opens the socket, and says where it listens.
pub(super) fn open_http_socket(
    ui: &mut Ui,
    session: &Session,
    typed: &str,
    args: &ServeArgs,
) -> Result<HttpOptions> {
    let address = parse_address(typed)?;
    if !address.ip().is_loopback() && !args.allow_remote {
        let message = format!("other machines can reach `{typed}`");
        let hint =
            "use `127.0.0.1:PORT`, or pass `--allow-remote` to allow unencrypted connections";
        return Err(CommandError::refused(message).with_hint(hint));
    }
    let (token, is_new) = read_token(session, args)?;
    let listener = TcpListener::bind(address)
        .map_err(|error| CommandError::refused(format!("cannot listen at `{address}`: {error}")))?;
    let options = HttpOptions { listener, token };
    let url = options.url().map_err(|error| CommandError::refused(error.to_string()))?;
    ui.print_status(&format!("serving at {url}; press Ctrl-C to stop"))?;
    if is_new {
        ui.print_status(&format!("every request needs `Authorization: Bearer {}`", options.token))?;
    }
    if let Some(path) = &args.token_file
        && session.system().may_others_read(&session.directory().join(path)).unwrap_or(false)
    {
        let shown = path.display();
        let words = format!("other users of this machine can read the token in `{shown}`");
        // The server runs on when the program that started it has read the address and left.
        let _ = ui
            .print_warning(&words)
            .and_then(|()| ui.print_hint(&format!("run `chmod 600 {shown}`")));
    }
    ui.tell_remarks()?;
    Ok(options)
}

fn parse_address(typed: &str) -> Result<SocketAddr> {
    if let Ok(port) = typed.parse::<u16>() {
        return Ok(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port));
    }
    let typed = typed.replacen("localhost:", "127.0.0.1:", 1);
    typed.parse().map_err(|_| {
        CommandError::usage(format!("invalid address `{typed}`"))
            .with_hint("write `--http 8137` or `--http 127.0.0.1:8137`; port 0 picks a free one")
    })
}

/// Returns the token, and whether it is new.
fn read_token(session: &Session, args: &ServeArgs) -> Result<(String, bool)> {
    let system = session.system();
    let Some(path) = &args.token_file else {
        let random = system.random_bytes()?;
        return Ok((sha256(&random), true));
    };
    let shown = path.display();
    let bytes = system.read(&session.directory().join(path), TOKEN_BYTES).map_err(|error| {
        CommandError::usage(format!("cannot read the token in `{shown}`: {error}"))
    })?;
    let token = String::from_utf8_lossy(&bytes).trim().to_owned();
    let is_fit = token.len() >= SHORTEST_TOKEN && token.bytes().all(|byte| byte.is_ascii_graphic());
    if !is_fit {
        let message = format!(
            "the token in `{shown}` needs at least {SHORTEST_TOKEN} characters, all printable ASCII"
        );
        return Err(
            CommandError::usage(message).with_hint("run `openssl rand -hex 32` to create one")
        );
    }
    Ok((token, false))
}
