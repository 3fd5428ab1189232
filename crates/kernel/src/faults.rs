//! Validation errors of a record's fields, collected before it is refused.

use std::ops::RangeInclusive;

use crate::{
    Error, FieldErrors, Result,
    values::{length_fault, range_fault},
};

#[derive(Clone, Debug, Default)]
pub struct Faults(FieldErrors);

impl Faults {
    pub fn add(&mut self, field: &str, text: impl Into<String>) {
        match self.0.iter_mut().find(|(name, _)| name == field) {
            Some((_, texts)) => texts.push(text.into()),
            None => self.0.push((field.to_owned(), vec![text.into()])),
        }
    }

    pub fn add_each(&mut self, field: &str, texts: impl IntoIterator<Item = String>) {
        for text in texts {
            self.add(field, text);
        }
    }

    /// Text of a bounded column.
    pub fn at_most(&mut self, field: &str, text: Option<&str>, limit: usize) {
        self.add_each(field, text.and_then(|text| length_fault(text, limit)));
    }

    /// A number that has to be within bounds.
    pub fn range(&mut self, field: &str, number: Option<i64>, bounds: RangeInclusive<i64>) {
        self.add_each(field, number.and_then(|number| range_fault(number, bounds)));
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn into_fields(self) -> FieldErrors {
        self.0
    }

    /// `Ok` when nothing is wrong.
    pub fn into_result(self) -> Result<()> {
        if self.0.is_empty() { Ok(()) } else { Err(Error::bad_request().fields(self.0)) }
    }
}
