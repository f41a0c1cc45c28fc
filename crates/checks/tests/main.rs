//! What is wrong with a project, through the library's public face.

mod links;
mod one_root;
mod rules;
