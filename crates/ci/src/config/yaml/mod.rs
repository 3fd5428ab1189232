//! YAML 1.1 as configurations have always been read: `yes` is a boolean, `0755` is octal, of a key given twice the last
//! counts, and only the first document is looked at.
//!
//! `events.rs` turns text into events (a library does that), `compose.rs` makes values of them, `scalar.rs` says what a
//! plain word means, and `emit.rs` writes a value as YAML again.

mod compose;
mod emit;
mod events;
mod scalar;

use std::fmt;

#[cfg(test)]
pub(crate) use compose::parse;
pub(crate) use compose::parse_within;
pub(crate) use emit::emit;
pub(crate) use emit::inline;

/// Reasons for which a text is no YAML document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// In the parser's words, with its place.
    Syntax(String),
    UnknownAlias(String),
    /// A value of a kind that is never made from a file: a date, or what a tag asks for.
    Class(String),
    TooBig,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax(text) => write!(f, "(<unknown>): {text}"),
            Self::UnknownAlias(name) => write!(f, "Unknown alias: {name}"),
            Self::Class(name) => write!(f, "Tried to load unspecified class: {name}"),
            Self::TooBig => f.write_str("The parsed YAML is too big"),
        }
    }
}
