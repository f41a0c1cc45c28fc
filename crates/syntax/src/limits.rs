//! All limits in one place, so that the documentation can list them; a test compares the two.
//!
//! A limit is never silent: the code that reaches one reports a diagnostic that names it.

/// Bytes read from one text file; a larger file is reported and not read.
pub const FILE_BYTES: u64 = 1024 * 1024;

/// Bytes of the front matter of one file; a longer one is reported and not parsed, and the text below it is
/// read all the same.
pub const FRONT_MATTER_BYTES: usize = 64 * 1024;

/// Problems of one kind of text (front matter, YAML) that are listed for one file; the rest is
/// counted.
pub const PROBLEMS_PER_FILE: usize = 100;

/// Entries taken from one file; the rest is reported and left out.
pub const ENTRIES_PER_FILE: usize = 10_000;

/// Directories between the root and a target whose files are read. For a deeper path, the ones
/// nearest to the target are read.
pub const PATH_DEPTH: usize = 4_096;

/// Depth of a walk over a whole project, in directories.
pub const WALK_DEPTH: usize = 64;

/// Directory entries of a walk over a whole project: more than the largest public repositories have (finding X18).
pub const WALK_ENTRIES: usize = 2_000_000;

/// Collections nested in one YAML document.
pub const YAML_DEPTH: usize = 64;

/// Nodes of one YAML document with its aliases expanded.
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
/// the exhaustion is reported once.
pub const HOOK_TOKENS: usize = 20_000;

/// Files with one trigger taken from one hosted context directory; the rest is reported and left
/// out.
pub const HOSTED_FILES: usize = 1_000;

/// Bytes read from one hosted context directory; the rest is reported and left out.
pub const HOSTED_BYTES: usize = 256 * 1024 * 1024;

/// Depth of a hosted context directory, in directories; the document requires at least 3.
pub const HOSTED_DEPTH: usize = 10;

/// Entries of one hosted context directory and all below it.
pub const HOSTED_ENTRIES: usize = 20_000;

/// Directories between the mounted and the working directory that count. For a deeper path, the
/// ones nearest to the working directory count.
pub const HOSTED_LEVELS: usize = 64;

/// Patterns taken from one list of a hosted configuration.
pub const HOSTED_PATTERNS: usize = 1_000;

/// Depth of the walks for the include patterns of one question, in directories.
pub const HOSTED_INCLUDE_DEPTH: usize = 32;

/// Entries of the walks for the include patterns of one question.
pub const HOSTED_INCLUDE_ENTRIES: usize = 100_000;

/// Directories between the mounted directory and a target whose client files are read. For a deeper
/// path, half of them are the topmost and half the ones nearest to the target.
pub const NATIVE_LEVELS: usize = 64;

/// Directories above a path that are searched for rules, agents and locks: for a deeper path, half
/// of them the topmost and half the nearest.
pub const MOUNTED_LEVELS: usize = 64;

/// Files taken from one directory of rules, skills or agents of a client.
pub const NATIVE_FILES: usize = 10_000;

/// Entries of one directory of rules, skills or agents of a client and all below it.
pub const NATIVE_ENTRIES: usize = 20_000;

/// Depth of a directory of rules or agents of a client, in directories.
pub const NATIVE_DEPTH: usize = 10;

/// Bytes of all client files of one project, or of one home directory.
pub const NATIVE_BYTES: usize = 64 * 1024 * 1024;

/// Patterns of one client file, with its braces expanded.
pub const NATIVE_PATTERNS: usize = 1_000;

/// Imports followed from the client files of one directory.
pub const NATIVE_IMPORTS: usize = 1_000;

/// Length of a chain of imports from a client file, in files.
pub const NATIVE_HOPS: usize = 4;

/// Files read from one search root of tasks; the rest is reported and left out.
pub const TASK_FILES: usize = 10_000;

/// Bytes read for one kind of file from all search roots; the rest is reported and left out.
pub const TASK_BYTES: usize = 256 * 1024 * 1024;

/// Depth of a location of tasks, rules, commands or skills, in directories.
pub const TASK_DEPTH: usize = 64;

/// Bytes of one assembled prompt; a larger one is refused.
pub const PROMPT_BYTES: usize = 16 * 1024 * 1024;

/// Shell commands that one prompt runs; the rest stays as written.
pub const PROMPT_COMMANDS: usize = 64;

/// Bytes of output of one shell command.
pub const COMMAND_OUTPUT_BYTES: usize = 1024 * 1024;

/// Seconds that one shell command in a text may take.
pub const COMMAND_SECONDS: u64 = 30;

/// Seconds that one bootstrap script may take.
pub const BOOTSTRAP_SECONDS: u64 = 120;

/// Bytes of one bootstrap script; a larger one is reported and does not run.
pub const SCRIPT_BYTES: u64 = 16 * 1024 * 1024;

/// Bytes of the trust record; an entry beyond it is refused.
pub const TRUST_BYTES: u64 = 1024 * 1024;

/// Files taken from one remote directory; of one with more, only possible guidance is taken.
pub const REMOTE_FILES: usize = 10_000;

/// Files of a remote directory with more than [`REMOTE_FILES`] that could be guidance; with more of them, it is
/// refused. The largest public collections have 14,000.
pub const REMOTE_GUIDANCE_FILES: usize = 50_000;

/// Bytes of one file of a remote directory; a larger one is reported and left out.
pub const REMOTE_FILE_BYTES: u64 = 16 * 1024 * 1024;

/// Bytes of all files taken from one remote directory; the rest is reported and left out.
pub const REMOTE_BYTES: u64 = 256 * 1024 * 1024;

/// Seconds that one call of `git` may take.
pub const REMOTE_SECONDS: u64 = 60;

/// Bytes of the list of files of one revision; a larger one is refused.
pub const TREE_LISTING_BYTES: usize = 512 * 1024 * 1024;

/// Paths listed for one change of the guidance; the rest is counted.
pub const DIFF_PATHS: usize = 1_000;

/// Capabilities of one item; one with more is not installed, because no user reviews them.
pub const ITEM_CAPABILITIES: usize = 2_000;

/// Bytes of one supporting file of a rule, skill or agent.
pub const SUPPORT_FILE_BYTES: u64 = 16 * 1024 * 1024;

/// Files of one skill that an MCP client is listed as a skill; a larger one is listed as a file only. The
/// Skills extension has the same limit.
pub const SKILL_FILES: usize = 512;

/// Bytes of one skill that an MCP client is listed as a skill, and of any resource.
pub const SKILL_BYTES: u64 = 16 * 1024 * 1024;

/// Bytes of the record of a build.
pub const BUILD_RECORD_BYTES: u64 = 64 * 1024 * 1024;

/// Files of guidance taken from one installed package; the rest is reported and left out.
pub const DEPENDENCY_FILES: usize = 200;

/// Names in one directory of installed packages.
pub const DEPENDENCY_PACKAGES: usize = 20_000;

/// Bytes of one file of a package manager: a manifest, a lock or a list of files.
pub const DEPENDENCY_MANIFEST_BYTES: u64 = 16 * 1024 * 1024;

/// Commands of one agent; one with more is refused.
pub const AGENT_COMMANDS: usize = 1_000;

/// Blocks nested in one template.
pub const TEMPLATE_DEPTH: usize = 64;

/// Steps that rendering one template may take.
pub const TEMPLATE_STEPS: usize = 1_000_000;

/// Bytes of one rendered text of an agent; a larger one is refused.
pub const TEMPLATE_BYTES: usize = 1024 * 1024;

/// Requests of one turn of an agent, so that a model that asks for tools in every round is stopped.
/// The author of the format stopped at 6; 16 leave room for work in many steps.
pub const AGENT_ROUNDS: usize = 16;

/// Seconds of one turn of an agent, its tools included. Models on a small machine are slow.
pub const AGENT_TURN_SECONDS: u64 = 600;

/// Bytes that a model may write in one turn, arguments of tools included.
pub const AGENT_OUTPUT_BYTES: usize = 1024 * 1024;

/// Bytes of one tool's result that a model is shown.
pub const AGENT_RESULT_BYTES: usize = 64 * 1024;

/// Tools that a model may call in one reply.
pub const AGENT_CALLS: usize = 64;

/// Equal calls in one turn: the first, and two repetitions.
pub const AGENT_SAME_CALLS: usize = 3;

/// Attempts to send a request that a server cannot take at the moment.
pub const AGENT_TRIES: usize = 5;

/// Longest wait that a server may ask for before the next attempt, in seconds.
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

/// Seconds that one call of a tool may take, its requests included.
pub const TOOL_SECONDS: u64 = 60;

/// Bytes of the result of one call, as JSON.
pub const TOOL_RESULT_BYTES: usize = 1024 * 1024;

/// Bytes that one call may log; the rest is left out.
pub const TOOL_LOG_BYTES: usize = 64 * 1024;

/// Bytes of one message between a tool and the program.
pub const TOOL_MESSAGE_BYTES: usize = 16 * 1024 * 1024;

/// Requests for abilities in one call.
pub const TOOL_REQUESTS: usize = 1_000;

/// Depth of tools that call each other.
pub const TOOL_DEPTH: usize = 8;

/// Names in one listing or search of a tool. A search looks at ten times as many.
pub const TOOL_NAMES: usize = 10_000;

/// Bytes of one answer from the network that a tool gets.
pub const TOOL_FETCH_BYTES: u64 = 4 * 1024 * 1024;

/// Seconds that a tool waits for one answer from the network.
pub const TOOL_FETCH_SECONDS: u64 = 10;

/// Redirects of one answer from the network.
pub const TOOL_REDIRECTS: usize = 5;

/// Seconds that one call of a tool to its browser may take.
pub const BROWSER_SECONDS: u64 = 30;

/// Seconds that an opened page may load before it is handed over as it is.
pub const BROWSER_LOAD_SECONDS: u64 = 10;

/// Pages that are open at once in the browser of one run; pop-ups beyond it are closed.
pub const BROWSER_PAGES: usize = 16;

/// Bytes that all pages of one run may load.
pub const BROWSER_BYTES: u64 = 256 * 1024 * 1024;

/// Connections of a browser at once.
pub const BROWSER_CONNECTIONS: usize = 64;

/// Bytes of one message of a browser; one that sends more is ended.
pub const BROWSER_MESSAGE_BYTES: usize = 64 * 1024 * 1024;

/// Characters of the text of one page, or of one table; a longer text is cut, which its last line says.
pub const BROWSER_TEXT: usize = 1024 * 1024;

/// Elements of a page whose accessibility tree is read, and links and cells of one answer.
pub const BROWSER_ELEMENTS: usize = 20_000;

/// Bytes of one download.
pub const BROWSER_FILE_BYTES: u64 = 64 * 1024 * 1024;

/// Browsers that one run may start: one that dies is replaced when the next page is opened.
pub const BROWSER_STARTS: usize = 4;

/// Bytes of the record of exact token counts; the older half is dropped when it is full.
pub const TOKEN_COUNT_BYTES: usize = 2 * 1024 * 1024;
