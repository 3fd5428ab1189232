//! The agents that a job may use, for the holder of its token.

use ci::job::Job;
use kernel::{AccessLevel, ids::NamespaceId};
use org::user::User;
use serde::Serialize;
use utoipa::ToSchema;

/// Agents that a job may use. Always empty: agents are not supported.
#[derive(Debug, Serialize, ToSchema)]
pub struct AllowedAgentsEntity {
    pub allowed_agents: Vec<i64>,
    pub job: IdEntity,
    pub pipeline: IdEntity,
    pub project: AgentProjectEntity,
    pub user: AgentUserEntity,
}

/// An object with its ID only.
#[derive(Debug, Serialize, ToSchema)]
pub struct IdEntity {
    pub id: i64,
}

/// Project of a job with its parent groups.
#[derive(Debug, Serialize, ToSchema)]
pub struct AgentProjectEntity {
    pub id: i64,
    pub groups: Vec<IdEntity>,
}

/// User on whose behalf the job runs.
#[derive(Debug, Serialize, ToSchema)]
pub struct AgentUserEntity {
    pub id: i64,
    pub username: String,
    /// Access level in the project and all lower ones.
    pub roles_in_project: Vec<&'static str>,
}

/// The roles by which agents let somebody in, the lowest first.
const ROLES: [(AccessLevel, &str); 5] = [
    (AccessLevel::Guest, "guest"),
    (AccessLevel::Reporter, "reporter"),
    (AccessLevel::Developer, "developer"),
    (AccessLevel::Maintainer, "maintainer"),
    (AccessLevel::Owner, "owner"),
];

impl AllowedAgentsEntity {
    pub fn new(job: &Job, groups: Vec<NamespaceId>, user: &User, level: AccessLevel) -> Self {
        let groups = groups.into_iter().map(|group| IdEntity { id: group.0 }).collect();
        let roles = ROLES.iter().filter(|(role, _)| *role <= level);
        Self {
            allowed_agents: Vec::new(),
            job: IdEntity { id: job.id.0 },
            pipeline: IdEntity { id: job.pipeline_id.0 },
            project: AgentProjectEntity { id: job.project_id.0, groups },
            user: AgentUserEntity {
                id: user.id.0,
                username: user.username.clone(),
                roles_in_project: roles.map(|(_, name)| *name).collect(),
            },
        }
    }
}
