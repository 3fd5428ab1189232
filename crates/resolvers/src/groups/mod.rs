//! Groups and personal namespaces.

pub(super) mod fields;
mod record;
mod statistics;

pub(super) use record::permissions;
pub use record::{
    FirstGroups, GroupRecord, connection, first_page, group, listed, named, namespace,
    namespace_of_id, of_id, record_of,
};
