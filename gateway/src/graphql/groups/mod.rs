//! Groups and personal namespaces.

pub(super) mod fields;
mod record;

pub(super) use record::permissions;
pub use record::{
    GroupRecord, connection, group, named, namespace, namespace_of_id, of_id, record_of,
};
