//! Agent files through the library's public face.

mod abilities;
mod cases;
mod commands;
mod fields;
mod gates;
mod header;
mod places;
mod properties;
mod sections;
mod support;
mod templates;
mod tools;
mod view;
