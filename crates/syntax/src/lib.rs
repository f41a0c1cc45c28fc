//! The ground floor: text with places in it, the formats that guidance is written in, and the one
//! door to the outside.
//!
//! Everything here is free of any dialect's rules. Parsers are total: any bytes in, a value and
//! diagnostics out.

pub mod glob;
