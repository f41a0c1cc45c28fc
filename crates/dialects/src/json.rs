//! The JSON that files may hold: strict, or with what people add to files that they edit.

use jsonc_parser::ParseOptions;

/// Returns the options for JSON with or without comments and trailing commas, and with nothing else.
pub const fn json_options(comments: bool, trailing_commas: bool) -> ParseOptions {
    ParseOptions {
        allow_comments: comments,
        allow_trailing_commas: trailing_commas,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    }
}
