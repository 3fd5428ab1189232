//! Rows of tables as JSON, and back: for archives of projects and groups. The owner of a table describes which of its
//! columns an archive holds and what values they may have; no row is read or written that is not described.

mod adjustment;
mod cells;
mod column;
mod pages;
mod parents;
mod read;
#[cfg(test)]
mod samples;
mod twins;
mod values;
mod write;

pub use cells::{Cell, Flaw, Names, cells, first_pass};
pub use column::{Column, Field, Relation};
pub use pages::{Omission, RowPages};
pub use parents::parents;
pub use read::ArchiveRow;
pub use twins::named;
pub use values::{LAST_NUMBER, ensure_number, is_one_of, is_sha};
pub use write::{clear, insert, remove};
