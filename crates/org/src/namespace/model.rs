//! A group or a personal namespace.

use diesel::prelude::{Queryable, Selectable};
use kernel::{
    Ts, Visibility,
    access::GroupFacts,
    ids::{NamespaceId, UserId},
};

kernel::text_enum! { pub enum Kind { User = "user", Group = "group" } }

#[derive(Clone, Debug, Queryable, Selectable)]
#[diesel(table_name = db::schema::namespaces, check_for_backend(diesel::sqlite::Sqlite, diesel::pg::Pg))]
pub struct Namespace {
    pub id: NamespaceId,
    pub kind: Kind,
    pub name: String,
    pub path: String,
    pub full_path: String,
    /// Names from the top, joined by ` / `.
    pub full_name: String,
    pub parent_id: Option<NamespaceId>,
    /// Only personal namespaces have one.
    pub owner_id: Option<UserId>,
    pub visibility: Visibility,
    pub description: Option<String>,
    pub avatar: Option<String>,
    pub default_branch_protection: Option<i32>,
    pub project_creation_level: String,
    pub subgroup_creation_level: String,
    pub created_at: Ts,
    pub updated_at: Ts,
}

impl Namespace {
    pub fn facts(&self) -> GroupFacts {
        GroupFacts {
            id: self.id,
            name: self.name.clone(),
            full_path: self.full_path.clone(),
            visibility: self.visibility,
        }
    }
}
