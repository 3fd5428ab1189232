//! Membership as it is given: who was added where, at which level, until when.

pub mod actions;
pub mod model;
pub mod store;

pub use model::{Member, MemberFilter, Membership};
