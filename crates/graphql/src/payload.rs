//! Payloads that mutations return.

use std::borrow::Cow;

use crate::value::Value;

/// The fields of a mutation's payload. Failures of the business are sentences in `errors`; the objects are null then,
/// or as they were.
#[derive(Clone, Debug, Default)]
pub struct Payload {
    pub(crate) fields: Vec<(Cow<'static, str>, Value)>,
    pub(crate) errors: Vec<String>,
}

impl Payload {
    pub fn new() -> Self {
        Self::default()
    }

    /// Nothing but sentences.
    pub fn errors(errors: Vec<String>) -> Self {
        Self { errors, ..Self::default() }
    }

    #[must_use]
    pub fn field(mut self, name: &'static str, value: impl Into<Value>) -> Self {
        self.fields.push((Cow::Borrowed(name), value.into()));
        self
    }

    /// Adds sentences.
    #[must_use]
    pub fn and_errors(mut self, errors: impl IntoIterator<Item = String>) -> Self {
        self.errors.extend(errors);
        self
    }
}
