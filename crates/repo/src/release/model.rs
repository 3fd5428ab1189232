//! A release as it is stored, and as somebody wants it.

use diesel::prelude::{Queryable, Selectable};
use kernel::{
    Ts,
    ids::{MilestoneId, ProjectId, ReleaseId, UserId},
};

use super::link::NewLink;

#[derive(Clone, Debug, PartialEq, Eq, Queryable, Selectable)]
#[diesel(table_name = db::schema::releases, check_for_backend(db::AnyBackend))]
pub struct Release {
    pub id: ReleaseId,
    pub project_id: ProjectId,
    /// The name of a tag, which may be gone.
    pub tag: String,
    pub name: String,
    pub description: Option<String>,
    /// `None` where the account is gone.
    pub author_id: Option<UserId>,
    /// The commit of the tag when the release was made; empty for one that never had one.
    pub sha: String,
    /// May lie in the future.
    pub released_at: Ts,
    pub created_at: Ts,
    pub updated_at: Ts,
}

/// A release that is to be.
#[derive(Clone, Debug)]
pub struct NewRelease {
    pub tag: String,
    pub name: String,
    pub description: Option<String>,
    pub author_id: Option<UserId>,
    pub sha: String,
    pub released_at: Ts,
    pub created_at: Ts,
}

/// Links and milestones of a new release.
#[derive(Clone, Debug, Default)]
pub struct ReleaseContents {
    pub links: Vec<NewLink>,
    pub milestones: Vec<MilestoneId>,
}

/// Fields of a release to change; `None` keeps a value.
#[derive(Clone, Debug, Default)]
pub struct ReleaseChange {
    /// Those that it completes, and no others.
    pub milestones: Option<Vec<MilestoneId>>,
    pub name: Option<String>,
    pub description: Option<Option<String>>,
    pub released_at: Option<Ts>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReleaseKey {
    #[default]
    Released,
    Created,
}

#[derive(Clone, Copy, Debug, Default)]
pub struct ReleaseOrder {
    pub key: ReleaseKey,
    pub ascending: bool,
}
