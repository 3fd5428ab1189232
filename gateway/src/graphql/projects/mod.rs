//! Projects.

mod fields;
mod permissions;
pub(super) mod queries;
mod record;

pub(super) use permissions::permissions;
pub use record::{ProjectRecord, bytes, connection, find, named, of_id, project, record_of};
