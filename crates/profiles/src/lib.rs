//! The AI clients: one data file for each, in `clients/`.
//!
//! A file says what a client reads by itself, where guidance for it is written, and what its files and fields
//! are called; each fact has the version and the day that it was seen in. Code knows clients only through this
//! crate, as far as data can say it. The build turns the files into constants: a hook runs for every tool call
//! and must not parse them.
//!
//! ```
//! let claude = brief_profiles::BUILTIN.find_client("claude").expect("has a file");
//! assert_eq!(&*claude.name, "Claude Code");
//! assert!(claude.reads.iter().any(|read| &*read.path == "CLAUDE.md"));
//! ```

mod checks;
mod fetched;
mod model;
mod own;
mod tables;
mod version;

pub use checks::{
    CheckedFile, CheckedKey, CheckedTable, ClientChecks, Expected, FileFormat, Reaction,
    expected::Bounds,
};
pub use fetched::{FetchedClient, judge_fetched};
pub use model::constant::{List, Text, list, text};
pub use model::hook::{
    AnswerField, AnswerValue, ApprovalMark, CreatedMark, DeliveryOrigin, FailedMark,
    HandlerDeadline, HandlerField, HookEvents, HookInstall, HookProfile, HookShell, HookSwitch,
    HookTools, InstallForm, PayloadMarks, ResumedConversation, SharedHookFile, TextLimit, TextUnit,
};
pub use model::loading::{
    Attaches, FormerOption, FormerWord, Loading, LoadingMode, LoadingModes, MachineFile,
    ModeSwitch, PassedOverFacts,
};
pub use model::output::{HomeOutput, ItemOutput};
pub use model::permissions::{PermissionProfile, PermissionWords};
pub use model::places::{ClientPlace, FileNames, KnownClients, PlaceShape};
pub use model::transcripts::{TranscriptForm, TranscriptProfile};
pub use model::{
    Client, ClientDirectory, ClientRead, Evidence, Form, MissingKind, PlaceFacts, Scoping, Seat,
    SeatWord, Seats, Seen, ServerField, ServerFormat, ServerProfile, ServerValue, SinceVersion,
    TaskRules, Unless,
};
pub use own::{
    DIRECTORY as OWN_CLIENTS, OwnClients, UnknownClient, is_plain_word, known_client, parse_client,
};
pub use tables::CheckSheet;
pub use version::{ClientVersion, find_installed_version, find_program};

pub static BUILTIN: KnownClients = builtin::BUILTIN;

include!(concat!(env!("OUT_DIR"), "/compiled.rs"));

#[cfg_attr(
    not(test),
    expect(
        clippy::wildcard_imports,
        clippy::enum_glob_use,
        reason = "the files decide which names the constants use"
    )
)]
#[expect(clippy::unreadable_literal, reason = "a set of bits")]
mod builtin {
    //! The constants, as the build script writes them.

    use crate::model::constant::{list, text};
    use crate::model::hook::*;
    use crate::model::loading::*;
    use crate::model::output::*;
    use crate::model::permissions::*;
    use crate::model::places::*;
    use crate::model::transcripts::*;
    use crate::model::*;

    use AnswerValue::*;
    use Attaches::*;
    use DeliveryOrigin::*;
    use Evidence::*;
    use Form::*;
    use HomeOutput::*;
    use HookShell::*;
    use InstallForm::*;
    use PlaceShape::*;
    use Scoping::*;
    use ServerFormat::*;
    use ServerValue::*;
    use TextUnit::*;
    use TranscriptForm::*;
    use Unless::*;

    pub(super) const BUILTIN: KnownClients = include!(concat!(env!("OUT_DIR"), "/builtin.rs"));
}
