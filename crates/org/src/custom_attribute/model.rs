//! A note, and of whom or what it is.

use diesel::prelude::{Queryable, Selectable};
use kernel::ids::{NamespaceId, ProjectId, UserId};

/// The object that a custom attribute belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    Group(NamespaceId),
    Project(ProjectId),
    User(UserId),
}

#[derive(Clone, Debug, PartialEq, Eq, Queryable, Selectable)]
#[diesel(table_name = db::schema::custom_attributes, check_for_backend(db::AnyBackend))]
pub struct CustomAttribute {
    pub key: String,
    pub value: String,
}
