//! Every limit in one place, so that the documentation can list them and a test can hold it to
//! that.
//!
//! A limit is never silent: whoever hits one reports a diagnostic that names it.

/// Bytes read from one text file; a larger file is reported and not read.
pub const FILE_BYTES: u64 = 1024 * 1024;

/// Bytes of the front matter of one file; a longer one is reported and not parsed, and the text below it is
/// read all the same.
pub const FRONT_MATTER_BYTES: usize = 64 * 1024;

/// Problems of one kind of text (front matter, YAML) that are reported one by one for one file; the rest is
/// counted.
pub const PROBLEMS_PER_FILE: usize = 100;

/// Entries taken from one file; the rest is reported and left out.
pub const ENTRIES_PER_FILE: usize = 10_000;

/// Directories between the root and a target whose files are read. When a path is deeper, the
/// ones nearest to the target are kept.
pub const PATH_DEPTH: usize = 4_096;

/// Directories that a walk over a whole project descends.
pub const WALK_DEPTH: usize = 64;

/// Directory entries that a walk over a whole project looks at. The largest public repositories have about as
/// many; a command over a million took up to 19 seconds (finding X18).
pub const WALK_ENTRIES: usize = 500_000;

/// Collections nested in one YAML document.
pub const YAML_DEPTH: usize = 64;

/// Nodes that one YAML document may stand for once its aliases are followed.
pub const YAML_EXPANDED_NODES: usize = 100_000;

/// Blocks and inline markup nested in one Markdown text that is formatted; a deeper one keeps its
/// layout. The formatter's stack and time grow with it.
pub const MARKDOWN_DEPTH: usize = 48;

/// Quotes nested in one Markdown text that is formatted; a deeper one keeps its layout. The
/// formatter's memory grows with the square of it.
pub const MARKDOWN_QUOTES: usize = 8;

/// Bytes of one line of Markdown that is formatted; a text with a longer one keeps its layout.
pub const MARKDOWN_LINE_BYTES: usize = 32 * 1024;

/// Pieces (lines, and words between marks) of one paragraph of Markdown that is formatted; a text
/// with a larger one keeps its layout. The formatter's time grows with the square of it.
pub const MARKDOWN_PIECES: usize = 2_048;

/// Cells of all tables of one Markdown text that is formatted; a text with more keeps its layout.
pub const MARKDOWN_TABLE_CELLS: usize = 50_000;

/// Bytes of all tables of one Markdown text once their columns are aligned; a text with more keeps
/// its layout.
pub const MARKDOWN_TABLE_BYTES: usize = 2 * 1024 * 1024;

/// Bytes of JSON that a hook reads from its client.
pub const HOOK_INPUT_BYTES: u64 = 64 * 1024 * 1024;

/// Bytes of a path that a hook is asked about; no system has a longer one.
pub const HOOK_PATH_BYTES: usize = 32 * 1024;

/// Tokens of guidance that a hook delivers in one conversation, unless `--budget` says otherwise;
/// that they are used up is said once.
pub const HOOK_TOKENS: usize = 20_000;

/// Files with one trigger taken from one hosted context directory; the rest is reported and left
/// out.
pub const HOSTED_FILES: usize = 1_000;

/// Bytes read from one hosted context directory; the rest is reported and left out.
pub const HOSTED_BYTES: usize = 256 * 1024 * 1024;

/// Directories that a hosted context directory is descended; the document asks for 3 at least.
pub const HOSTED_DEPTH: usize = 10;

/// Names looked at in one hosted context directory and all below it.
pub const HOSTED_ENTRIES: usize = 20_000;

/// Directories between the mounted and the working directory that are sourced. When a path is
/// deeper, the ones nearest to the working directory are kept.
pub const HOSTED_LEVELS: usize = 64;

/// Patterns taken from one list of a hosted configuration.
pub const HOSTED_PATTERNS: usize = 1_000;

/// Directories that the include patterns of one question descend.
pub const HOSTED_INCLUDE_DEPTH: usize = 32;

/// Names that the include patterns of one question look at.
pub const HOSTED_INCLUDE_ENTRIES: usize = 100_000;

/// Directories between the mounted directory and a target whose client files are read. When a path
/// is deeper, half of them are the topmost and half the ones nearest to the target.
pub const NATIVE_LEVELS: usize = 64;

/// Directories on the way to a path that are looked at for rules, agents and locks: when a path is deeper,
/// half of them the topmost and half the nearest.
pub const MOUNTED_LEVELS: usize = 64;

/// Files taken from one directory of rules, skills or agents of a client.
pub const NATIVE_FILES: usize = 10_000;

/// Names looked at in one directory of rules, skills or agents of a client and all below it.
pub const NATIVE_ENTRIES: usize = 20_000;

/// Directories that a directory of rules or agents of a client is descended.
pub const NATIVE_DEPTH: usize = 10;

/// Bytes of all client files of one project, or of one home directory.
pub const NATIVE_BYTES: usize = 64 * 1024 * 1024;

/// Patterns of one client file, once its braces are expanded.
pub const NATIVE_PATTERNS: usize = 1_000;

/// Imports followed from the client files of one directory.
pub const NATIVE_IMPORTS: usize = 1_000;

/// Files from a client file to the last one that an import leads to.
pub const NATIVE_HOPS: usize = 4;

/// Files read from one search root of tasks; the rest is reported and left out.
pub const TASK_FILES: usize = 10_000;

/// Bytes read for one kind of file from all search roots; the rest is reported and left out.
pub const TASK_BYTES: usize = 256 * 1024 * 1024;

/// Directories that a place of tasks, rules, commands or skills is descended.
pub const TASK_DEPTH: usize = 64;

/// Bytes of one assembled prompt; a larger one is refused.
pub const PROMPT_BYTES: usize = 16 * 1024 * 1024;

/// Shell commands that one prompt runs; the rest stays as written.
pub const PROMPT_COMMANDS: usize = 64;

/// Bytes that one shell command may write.
pub const COMMAND_OUTPUT_BYTES: usize = 1024 * 1024;

/// Seconds that one shell command in a text may take.
pub const COMMAND_SECONDS: u64 = 30;

/// Seconds that one bootstrap script may take.
pub const BOOTSTRAP_SECONDS: u64 = 120;

/// Bytes of the record of what the user has trusted; an entry past it is refused.
pub const TRUST_BYTES: u64 = 1024 * 1024;

/// Files taken from one remote directory; of one with more, those that could be guidance are taken.
pub const REMOTE_FILES: usize = 10_000;

/// Bytes of one file of a remote directory; a larger one is reported and left out.
pub const REMOTE_FILE_BYTES: u64 = 16 * 1024 * 1024;

/// Bytes of all files taken from one remote directory; the same holds.
pub const REMOTE_BYTES: u64 = 256 * 1024 * 1024;

/// Seconds that one call of `git` may take.
pub const REMOTE_SECONDS: u64 = 60;

/// Bytes of the list of files of one revision; a larger one is refused.
pub const TREE_LISTING_BYTES: usize = 512 * 1024 * 1024;

/// Paths that one change of the guidance names; the rest is counted.
pub const DIFF_PATHS: usize = 1_000;

/// Bytes of one file that lies beside a rule, skill or agent.
pub const SUPPORT_FILE_BYTES: u64 = 16 * 1024 * 1024;

/// Bytes of the record of a build.
pub const BUILD_RECORD_BYTES: u64 = 64 * 1024 * 1024;

/// Commands of one agent; one with more is refused.
pub const AGENT_COMMANDS: usize = 1_000;

/// Blocks nested in one template.
pub const TEMPLATE_DEPTH: usize = 64;

/// Steps that rendering one template may take.
pub const TEMPLATE_STEPS: usize = 1_000_000;

/// Bytes of one rendered text of an agent; a larger one is refused.
pub const TEMPLATE_BYTES: usize = 1024 * 1024;

/// Requests that one turn of an agent makes: a model that asks for tools round after round is stopped.
/// The author of the format stopped at 6; 16 leave room for work that looks at one thing after another.
pub const AGENT_ROUNDS: usize = 16;

/// Seconds of one turn of an agent, its tools included. Models on a small machine are slow.
pub const AGENT_TURN_SECONDS: u64 = 600;

/// Bytes that a model may write in one turn, arguments of tools included.
pub const AGENT_OUTPUT_BYTES: usize = 1024 * 1024;

/// Bytes of one tool's result that a model is shown.
pub const AGENT_RESULT_BYTES: usize = 64 * 1024;

/// Tools that a model may call in one reply.
pub const AGENT_CALLS: usize = 64;

/// How often one turn makes the same call: once, and two repetitions.
pub const AGENT_SAME_CALLS: usize = 3;

/// How often a request is sent that a server cannot take at the moment.
pub const AGENT_TRIES: usize = 5;

/// Seconds that a server may ask to wait before the next try.
pub const AGENT_RETRY_SECONDS: u64 = 60;

/// Bytes of the code of an agent's tools; larger code is refused.
pub const TOOL_CODE_BYTES: usize = 1024 * 1024;

/// Tools of one agent; code that returns more is refused.
pub const TOOLS: usize = 256;

/// Bytes of memory that the tools of one agent may use.
pub const TOOL_MEMORY_BYTES: usize = 64 * 1024 * 1024;

/// Bytes of stack that the tools of one agent may use.
pub const TOOL_STACK_BYTES: usize = 1024 * 1024;

/// Seconds that one call of a tool may compute.
pub const TOOL_CPU_SECONDS: u64 = 5;

/// Seconds that one call of a tool may take, all that it asks for included.
pub const TOOL_SECONDS: u64 = 60;

/// Bytes of the result of one call, as JSON.
pub const TOOL_RESULT_BYTES: usize = 1024 * 1024;

/// Bytes that one call may log; the rest is left out.
pub const TOOL_LOG_BYTES: usize = 64 * 1024;

/// Bytes of one message between a tool and the program.
pub const TOOL_MESSAGE_BYTES: usize = 16 * 1024 * 1024;

/// How often one call may ask for an ability.
pub const TOOL_REQUESTS: usize = 1_000;

/// How deep tools may call each other.
pub const TOOL_DEPTH: usize = 8;

/// Names that one listing or search of a tool returns. A search looks at ten times as many.
pub const TOOL_NAMES: usize = 10_000;

/// Bytes of one answer from the network that a tool gets.
pub const TOOL_FETCH_BYTES: u64 = 4 * 1024 * 1024;

/// Seconds that a tool waits for one answer from the network.
pub const TOOL_FETCH_SECONDS: u64 = 10;

/// How often one answer from the network may lead elsewhere.
pub const TOOL_REDIRECTS: usize = 5;

/// Bytes of the record of exact token counts; the older half goes when it is full.
pub const TOKEN_COUNT_BYTES: usize = 2 * 1024 * 1024;
