//! An environment as it is stored.

use diesel::prelude::{Queryable, Selectable};
use kernel::{
    Ts,
    ids::{EnvironmentId, ProjectId},
};

use super::{EnvironmentState, Tier};

#[derive(Clone, Debug, PartialEq, Eq, Queryable, Selectable)]
#[diesel(table_name = db::schema::environments, check_for_backend(db::AnyBackend))]
pub struct Environment {
    pub id: EnvironmentId,
    pub project_id: ProjectId,
    pub name: String,
    /// Made of its first name.
    pub slug: String,
    pub external_url: Option<String>,
    pub tier: Tier,
    pub state: EnvironmentState,
    /// When it stops by itself.
    pub auto_stop_at: Option<Ts>,
    /// When it is removed, once it was stopped.
    pub auto_delete_at: Option<Ts>,
    pub created_at: Ts,
    pub updated_at: Ts,
}

impl Environment {
    /// What its name begins with, where it has several parts: `review` of `review/feature`.
    pub fn folder(&self) -> Option<&str> {
        self.name.split_once('/').map(|(folder, _)| folder)
    }
}
