//! Projects.

mod by_id;
mod fields;
mod forks;
mod permissions;
pub(super) mod queries;
mod record;
mod statistics;

pub use by_id::{connection_by_id, connection_of};
pub(super) use permissions::permissions;
pub use record::{ProjectRecord, bytes, connection, find, named, of_id, project, record_of};
