//! A runner as it is stored.

use diesel::prelude::{Queryable, Selectable};
use kernel::{
    Error, Result, Ts,
    ids::{NamespaceId, RunnerId, UserId},
};

kernel::text_enum! {
    /// The type of a runner. It never changes.
    pub enum RunnerType {
        Instance = "instance_type",
        Group = "group_type",
        Project = "project_type",
    }
}

kernel::text_enum! {
    /// For which branches and tags a runner does jobs.
    pub enum RunnerAccess {
        NotProtected = "not_protected",
        RefProtected = "ref_protected",
    }
}

#[derive(Clone, Debug, Queryable, Selectable)]
#[diesel(table_name = db::schema::runners, check_for_backend(db::AnyBackend))]
pub struct Runner {
    pub id: RunnerId,
    pub runner_type: RunnerType,
    pub token_digest: String,
    /// The beginning of the token.
    pub short_token: String,
    /// Whether a person made it, and its token says so.
    pub created_by_person: bool,
    pub creator_id: Option<UserId>,
    /// Of a group's runner, the group.
    pub group_id: Option<NamespaceId>,
    pub description: Option<String>,
    pub maintenance_note: Option<String>,
    /// Whether it takes jobs.
    pub active: bool,
    /// Whether it may not be assigned to further projects.
    pub locked: bool,
    pub run_untagged: bool,
    pub access_level: RunnerAccess,
    /// Seconds.
    pub maximum_timeout: Option<i64>,
    /// A JSON list, in the order of the alphabet.
    pub tags: String,
    pub name: Option<String>,
    pub version: Option<String>,
    pub revision: Option<String>,
    pub platform: Option<String>,
    pub architecture: Option<String>,
    pub ip_address: Option<String>,
    pub contacted_at: Option<Ts>,
    pub created_at: Ts,
    pub updated_at: Ts,
    /// From then on nobody is known by the token; null where it does not expire.
    pub token_expires_at: Option<Ts>,
}

impl Runner {
    pub fn tag_list(&self) -> Result<Vec<String>> {
        serde_json::from_str(&self.tags).map_err(Error::internal)
    }

    pub fn has_expired_token(&self, now: Ts) -> bool {
        self.token_expires_at.is_some_and(|end| end <= now)
    }

    pub fn is_shared(&self) -> bool {
        self.runner_type == RunnerType::Instance
    }
}
