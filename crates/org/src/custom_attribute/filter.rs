//! Lists of what has certain notes.

use super::CustomAttribute;
use crate::listing::{Bind, Conditions};

/// Wants all of these notes of the thing whose id is in `id`; `column` says which kind of thing that is.
pub(crate) fn having(all: &mut Conditions, id: &str, column: &str, notes: &[CustomAttribute]) {
    for note in notes {
        all.binds.push(Bind::Word(note.key.clone()));
        all.binds.push(Bind::Word(note.value.clone()));
        let (key, value) = (all.binds.len() - 1, all.binds.len());
        all.plain(condition(id, column, key, value));
    }
}

/// As [`having`], for one note, whose key and value are in these places.
pub(crate) fn condition(id: &str, column: &str, key: usize, value: usize) -> String {
    format!(
        "{id} IN (SELECT c.{column} FROM custom_attributes c WHERE c.{column} IS NOT NULL AND c.key = ${key} \
         AND substr(c.value, 1, 200) = substr(${value}, 1, 200) AND c.value = ${value})"
    )
}
