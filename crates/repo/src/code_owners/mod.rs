//! The owners of files, as the `CODEOWNERS` file of a repository names them.

mod glob;
mod parse;
mod read;

pub use parse::{CodeOwners, Owner, Section};
pub(crate) use read::{LARGEST, PLACES};
pub use read::{OwnerMatch, OwnerMatches, changed_by, find, of_branch, refusal};
