//! Git repositories: what is in them, how they change, and who may change what.

pub mod branch;
pub mod changelog;
pub mod checksum;
pub mod code_owners;
pub mod commit;
pub mod compare;
pub mod event;
pub mod git;
pub mod jobs;
pub mod lfs;
pub mod license;
pub mod merge;
pub mod name_filter;
pub mod policy;
pub mod ports;
pub mod protection;
pub mod push;
pub mod push_rule;
pub mod range;
pub mod reassign;
pub mod release;
pub mod tag;
#[cfg(feature = "testing")]
pub mod testing;
pub mod tree;
pub mod wiki;

pub use event::Event;
