//! Membership as it is given: who was added where, at which level, until when.

pub mod actions;
