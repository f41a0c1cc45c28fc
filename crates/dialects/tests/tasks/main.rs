//! Task, rule, command and skill files through the library's public face.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should fail here")]

mod bootstrap;
mod commands;
mod examples;
mod examples_rules;
mod examples_text;
mod expansion;
mod lint;
mod names;
mod namespaces;
mod places;
mod properties;
mod selectors;
mod skills;
mod support;
mod tolerance;
