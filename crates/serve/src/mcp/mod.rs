//! MCP servers: a project ([`project`]); `brief-agent` serves agent files.
//!
//! Both speak through one loop ([`session`]). The protocol has its own thread, with the only async runtime of the whole
//! program. On standard input and output, standard output belongs to the protocol; messages for people go to
//! the caller.

mod check;
pub mod configured;
mod frames;
pub(crate) mod fuzzing;
mod gateway;
mod http;
pub mod project;
pub mod session;

use std::path::Path;

use brief_engine::tasks::Library;
use brief_runtime::PromptAssembly;
use brief_runtime::assembly::SearchDirectories;
use brief_system::System;

pub use check::{ServerCheck, check_servers};
pub use gateway::{GatewayServer, GatewayTimes};
pub use http::HttpOptions;
use session::{
    Answered, Context, ListParams, TICK, about_to_end, call_result, create_runtime,
    invalid_params_error, prompt_result, serve_streams,
};
pub use session::{ServeError, Served};

/// Opens the tasks, rules and commands of the project and of the user, as far as they are on this machine.
fn offline_library<'s>(system: &'s dyn System, directory: &Path) -> Option<Library<'s>> {
    let assembly = PromptAssembly::open(system, directory).ok()?;
    let roots = assembly.search_roots(&offline_directories(), &mut |_| {}).ok()?;
    Some(Library::open(system, &roots))
}

fn offline_directories() -> SearchDirectories {
    SearchDirectories { offline: true, ..SearchDirectories::default() }
}
