//! Lists of issues and of merge requests: which ones, in which order, one page at a time.
//!
//! The conditions are written as SQL, since finding a page among a million items in time depends on which index is
//! walked. First the ids of the page are found; their rows are for the caller to load.

mod common;
mod conditions;
mod order;
mod plan;
mod scope;
mod search;
mod searched;

pub(crate) use common::midnight;
pub use common::{AnyCommon, Common, NotCommon};
pub use conditions::{Choice, Conditions, IndexedFilter, MilestoneChoice, Part, confidential_for};
pub use order::{Direction, Order, Sorting};
pub use plan::{Query, count_all, page_of, sum_all};
pub use scope::ListScope;
pub(crate) use scope::own_projects;
pub use search::{Fields, Search};
