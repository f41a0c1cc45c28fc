//! Globs, Markdown and YAML against models, other implementations and hostile files.

mod glob;
mod glob_model;
mod markdown_format;
mod markdownlint;
mod torture;
