//! What pushes must look like: the rules of a project, and the templates of groups and of the installation that new
//! projects begin with.

pub mod actions;
pub mod archive;
pub mod judge;
pub mod model;
pub mod pattern;
mod re2;
pub mod store;

pub use judge::{Person, PushRuleChecker};
pub use model::{Owner, PushRule, Terms};
pub use store::PushRuleStore;
