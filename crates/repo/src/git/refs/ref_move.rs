//! A ref and where it goes.

use crate::git::{Oid, RefName};

/// The value that the writer expects. There is no "anything": every writer states what its decision rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpectedValue {
    Absent,
    Exactly(Oid),
}

impl ExpectedValue {
    pub fn oid(self) -> Option<Oid> {
        match self {
            Self::Absent => None,
            Self::Exactly(id) => Some(id),
        }
    }
}

impl From<Option<Oid>> for ExpectedValue {
    fn from(seen: Option<Oid>) -> Self {
        seen.map_or(Self::Absent, Self::Exactly)
    }
}

/// One ref and where it goes; `None` deletes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefMove {
    pub name: RefName,
    pub old: ExpectedValue,
    pub new: Option<Oid>,
}
