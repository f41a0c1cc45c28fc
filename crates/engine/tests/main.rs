//! One answer from all dialects, through the library's public face.

mod estimate;
mod everything;
mod installed;
mod native;
mod properties;
mod sees;
mod structured;
