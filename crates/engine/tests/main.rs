//! One answer from all dialects, through the library's public face.

mod estimate;
mod everything;
mod installed;
mod links;
mod native;
mod one_root;
mod properties;
mod sees;
mod structured;
