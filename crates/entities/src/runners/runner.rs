//! Runners, as lists and single calls show them.

use db::Tx;
use forge::{ports::runners::Roles, urls::Urls};
use kernel::{Actor, Result, Ts, ids::ProjectId};
use org::{access::standings_of_one, project::store::ProjectStore as _};
use runners::{
    manager::Manager,
    runner::{
        NewToken, Runner, RunnerAccess, RunnerStatus, RunnerStore as _, RunnerToken, RunnerType,
        actions,
    },
};
use secrets::Secret;
use serde::Serialize;
use utoipa::ToSchema;

/// A runner in a list.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct RunnerEntity {
    pub id: i64,
    pub description: Option<String>,
    pub ip_address: Option<String>,
    pub active: bool,
    /// The opposite of `active`.
    pub paused: bool,
    /// Whether it is an instance runner.
    pub is_shared: bool,
    #[schema(value_type = String)]
    pub runner_type: RunnerType,
    pub name: Option<String>,
    pub online: bool,
    #[schema(value_type = String)]
    pub status: RunnerStatus,
}

impl RunnerEntity {
    pub fn new(runner: &Runner, now: Ts) -> Self {
        Self {
            id: runner.id.0,
            description: runner.description.clone(),
            ip_address: runner.ip_address.clone(),
            active: runner.active,
            paused: !runner.active,
            is_shared: runner.is_shared(),
            runner_type: runner.runner_type,
            name: runner.name.clone(),
            online: runner.is_online(now),
            status: runner.status(now),
        }
    }
}

/// A runner with all fields.
#[derive(Debug, Serialize, ToSchema)]
pub struct RunnerDetailEntity {
    #[serde(flatten)]
    pub runner: RunnerEntity,
    pub tag_list: Vec<String>,
    pub run_untagged: bool,
    pub locked: bool,
    /// Duration in seconds.
    pub maximum_timeout: Option<i64>,
    #[schema(value_type = String)]
    pub access_level: RunnerAccess,
    pub version: Option<String>,
    pub revision: Option<String>,
    pub platform: Option<String>,
    pub architecture: Option<String>,
    #[schema(value_type = Option<String>)]
    pub contacted_at: Option<Ts>,
    /// Null for callers who may not change the runner.
    pub maintenance_note: Option<String>,
    /// Projects assigned to the runner that the caller may see.
    pub projects: Vec<RunnerProjectEntity>,
    pub groups: Vec<RunnerGroupEntity>,
}

/// A project of a runner.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct RunnerProjectEntity {
    pub id: i64,
    pub description: Option<String>,
    pub name: String,
    pub name_with_namespace: String,
    pub path: String,
    pub path_with_namespace: String,
    #[schema(value_type = String)]
    pub created_at: Ts,
}

/// Group of a group runner.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct RunnerGroupEntity {
    pub id: i64,
    pub web_url: String,
    pub name: String,
}

impl From<org::project::Project> for RunnerProjectEntity {
    fn from(project: org::project::Project) -> Self {
        Self {
            id: project.id.0,
            description: project.description,
            name: project.name,
            name_with_namespace: project.full_name,
            path: project.path,
            path_with_namespace: project.full_path,
            created_at: project.created_at,
        }
    }
}

impl RunnerDetailEntity {
    pub fn load(tx: &mut Tx<'_>, urls: &Urls, actor: Actor, runner: &Runner) -> Result<Self> {
        let ids = tx.projects_of_runner(runner.id)?;
        let seen = match actor.admin {
            true => ids,
            false => seen(tx, actor, &ids)?,
        };
        let projects = tx.projects_by_id(&seen)?.into_iter().map(Into::into).collect();
        let groups = match runner.group_id {
            Some(group) => org::hierarchy::known_groups(tx, actor, &[group])?,
            None => Vec::new(),
        };
        let groups = groups.into_iter().map(|group| RunnerGroupEntity {
            id: group.id.0,
            web_url: urls.at(&format!("groups/{}", group.full_path)),
            name: group.name,
        });
        let may_update = actions::may_update(tx, actor, &Roles, runner)?;
        Ok(Self {
            tag_list: runner.tag_list()?,
            run_untagged: runner.run_untagged,
            locked: runner.locked,
            maximum_timeout: runner.maximum_timeout,
            access_level: runner.access_level,
            version: runner.version.clone(),
            revision: runner.revision.clone(),
            platform: runner.platform.clone(),
            architecture: runner.architecture.clone(),
            contacted_at: runner.contacted_at,
            maintenance_note: runner.maintenance_note.clone().filter(|_| may_update),
            projects,
            groups: groups.collect(),
            runner: RunnerEntity::new(runner, tx.now),
        })
    }
}

fn seen(tx: &mut Tx<'_>, actor: Actor, ids: &[ProjectId]) -> Result<Vec<ProjectId>> {
    let standings = standings_of_one::in_projects(tx, actor, ids)?;
    Ok(ids.iter().copied().filter(|id| standings.contains_key(id)).collect())
}

/// A runner manager: one of the processes that use the runner's token.
#[derive(Debug, Serialize, ToSchema)]
pub struct RunnerManagerEntity {
    pub id: i64,
    pub system_id: String,
    pub version: Option<String>,
    pub revision: Option<String>,
    pub platform: Option<String>,
    pub architecture: Option<String>,
    #[schema(value_type = String)]
    pub created_at: Ts,
    #[schema(value_type = Option<String>)]
    pub contacted_at: Option<Ts>,
    pub ip_address: Option<String>,
    #[schema(value_type = String)]
    pub status: RunnerStatus,
}

impl RunnerManagerEntity {
    pub fn new(manager: Manager, now: Ts) -> Self {
        Self {
            id: manager.id,
            status: manager.status(now),
            system_id: manager.system_id,
            version: manager.version,
            revision: manager.revision,
            platform: manager.platform,
            architecture: manager.architecture,
            created_at: manager.created_at,
            contacted_at: manager.contacted_at,
            ip_address: manager.ip_address,
        }
    }
}

/// A new runner with its token.
#[derive(Debug, Serialize, ToSchema)]
pub struct RegisteredRunnerEntity {
    pub id: i64,
    pub token: String,
    /// When the token expires. Null if it does not.
    #[schema(value_type = Option<String>)]
    pub token_expires_at: Option<Ts>,
}

impl RegisteredRunnerEntity {
    pub fn new(runner: &Runner, token: &RunnerToken) -> Self {
        let token = token.reveal().to_owned();
        Self { id: runner.id.0, token, token_expires_at: runner.token_expires_at }
    }
}

/// A token that replaces another one.
#[derive(Debug, Serialize, ToSchema)]
pub struct ResetTokenEntity {
    pub token: String,
    /// When the token expires. Null if it does not; always null for registration tokens.
    #[schema(value_type = Option<String>)]
    pub token_expires_at: Option<Ts>,
}

impl From<NewToken> for ResetTokenEntity {
    fn from(new: NewToken) -> Self {
        Self { token: new.token.reveal().to_owned(), token_expires_at: new.expires_at }
    }
}

impl From<Secret> for ResetTokenEntity {
    fn from(token: Secret) -> Self {
        Self { token: token.into_revealed(), token_expires_at: None }
    }
}
