//! Task, rule, command and skill files through the library's public face.

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
