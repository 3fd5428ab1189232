//! Which branches and tags are protected, and whom that keeps out.

pub mod rules;
