//! A runner: a program that does jobs, of one project or several, of a group, or of the whole installation.

pub mod actions;
mod list;
mod model;
pub mod register;
mod room;
mod rules;
mod store;
mod token;

pub use list::{RunnerFilter, RunnerListStore, RunnerOrder, RunnerScope, StatusFilter};
pub use model::{Runner, RunnerAccess, RunnerType};
pub use register::Owner;
pub use room::{RunnerLimits, ensure_room};
pub(crate) use rules::status_at as manager_status;
pub use rules::{Attributes, RunnerStatus};
pub use store::{RegistrationStore, RunnerStore};
pub use token::{NewToken, RunnerToken};
