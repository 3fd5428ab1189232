//! Lists of issues and of merge requests: which ones, in which order, one page at a time.
//!
//! The conditions are written as SQL, since finding a page among a million items in time depends on which index is
//! walked. First the ids of the page are found; their rows are for the caller to load.

mod batch;
mod bound;
mod conditions;
mod milestone_choice;
mod part;
mod plan;
mod query;
mod scan;
mod search;
mod search_pages;

pub use batch::{HeadPart, ListFigures, ListHead, figures_of_all, heads_of_all};
pub use bound::{ListEdge, ListPosition, Side};
pub use conditions::{Choice, Conditions, IndexedFilter, confidential_for};
pub use milestone_choice::MilestoneChoice;
pub use part::Part;
pub use plan::{Query, count_all, page_of, sum_all, sum_of};
pub(crate) use query::midnight;
pub use query::{AnyCommon, Common, Direction, ListScope, NotCommon, Order, Sorting};
pub use search::{Fields, Search};
