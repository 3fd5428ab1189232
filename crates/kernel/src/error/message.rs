//! The forms of an error's message.

use std::borrow::Cow;

/// Texts per field, in the order in which they were found.
pub type FieldErrors = Vec<(String, Vec<String>)>;

/// The form of the message in the response, which is part of an endpoint's contract.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Message {
    /// The words of the kind: `403 Forbidden`.
    Default,
    /// As [`Message::Default`], in the spelling that does not say what is missing: `404 Not Found`.
    Hidden,
    /// The words of the kind around the name of what is missing: `404 Merge Base Not Found`.
    Subject(Cow<'static, str>),
    /// The words of the kind and a reason: `403 Forbidden - Cannot push to source branch`.
    Reason(String),
    /// As [`Message::Reason`], for a change that the caller may make and the state of the resource does not allow.
    State(String),
    /// This sentence alone.
    Whole(String),
    /// Whole sentences, in a list.
    Sentences(Vec<String>),
    /// Texts for each field.
    Fields(FieldErrors),
    /// A sentence about parameters.
    Parameters(String),
    /// A sentence about how many there may be.
    Limit(String),
    /// A sentence and a short code for programs.
    Coded { text: String, code: &'static str },
    /// A text for the log; the response has the words of the kind.
    LogOnly(String),
}
