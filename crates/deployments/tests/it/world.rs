//! A project in a group, and a person of each role.

use std::sync::Arc;

use db::{
    Tx,
    testing::{TestDatabase, rows},
};
use forgeway_deployments::{
    deployment::{Deployment, DeploymentStatus, DeploymentStore as _, NewDeployment, StatusReport},
    environment::{Environment, EnvironmentStep, actions},
    policy::{ChangeEnvironments, ProtectEnvironments, ProtectGroupEnvironments},
    ports,
    protection::{
        Holder, NewAccess, Protection,
        actions::{NewProtection, protect},
    },
};
use kernel::{
    Ability, AccessLevel, Actor, Error, Grant, Result, Standing, Visibility,
    access::{Features, Group, GroupFacts, Project, ProjectFacts},
    error::Message,
    ids::{DeploymentId, EnvironmentId, NamespaceId, ProjectId, UserId},
};
use time::Duration;

pub(crate) struct World {
    pub(crate) maintainer: UserId,
    pub(crate) other_maintainer: UserId,
    pub(crate) developer: UserId,
    pub(crate) reporter: UserId,
    pub(crate) group: NamespaceId,
    pub(crate) project: ProjectId,
    pub(crate) members: Members,
}

/// Who has to do with the project and its group, from lists.
#[derive(Clone)]
pub(crate) struct Members {
    levels: Vec<(UserId, AccessLevel)>,
    group: NamespaceId,
    /// Those who are in the group itself.
    in_group: Vec<UserId>,
}

impl ports::Members for Members {
    fn groups_above(&self, _: &mut Tx<'_>, _: ProjectId) -> Result<Vec<NamespaceId>> {
        Ok(vec![self.group])
    }

    fn is_in_group(
        &self,
        _: &mut Tx<'_>,
        user: UserId,
        group: NamespaceId,
        _: bool,
    ) -> Result<bool> {
        Ok(group == self.group && self.in_group.contains(&user))
    }

    fn is_in_project(&self, _: &mut Tx<'_>, user: UserId, _: ProjectId) -> Result<bool> {
        Ok(self.levels.iter().any(|(known, _)| *known == user))
    }

    fn is_group_of(&self, _: &mut Tx<'_>, group: NamespaceId, _: ProjectId) -> Result<bool> {
        Ok(group == self.group)
    }

    fn is_group_below(&self, _: &mut Tx<'_>, one: NamespaceId, above: NamespaceId) -> Result<bool> {
        Ok(one == above)
    }
}

/// Runs a test in one transaction of a database of its own.
pub(crate) fn test(body: fn(&mut Tx<'_>, &World) -> Result<()>) {
    let database = TestDatabase::new();
    let done = database.db.write_blocking(move |tx| {
        let world = World::new(tx)?;
        body(tx, &world)
    });
    done.unwrap();
}

/// All that a refusal says, with the fields it is about.
pub(crate) fn told(refused: &Error) -> String {
    match &refused.message {
        Message::Fields(fields) => {
            let texts =
                |(field, texts): &(String, Vec<String>)| format!("{field} {}", texts.join(", "));
            fields.iter().map(texts).collect::<Vec<_>>().join("; ")
        }
        _ => refused.to_string(),
    }
}

/// Time goes by within the transaction.
pub(crate) fn wait(tx: &mut Tx<'_>, time: Duration) {
    tx.now = tx.now.plus(time);
}

/// A rule for everybody of a role.
pub(crate) fn role(level: AccessLevel) -> NewAccess {
    NewAccess { holder: Holder::Role(level), with_inherited: false, required_approvals: 1 }
}

/// A rule for one person.
pub(crate) fn person(user: UserId) -> NewAccess {
    NewAccess { holder: Holder::User(user), ..role(AccessLevel::NoAccess) }
}

impl World {
    fn new(tx: &mut Tx<'_>) -> Result<Self> {
        let maintainer = rows::user(tx, "maintainer")?;
        let other_maintainer = rows::user(tx, "other")?;
        let developer = rows::user(tx, "developer")?;
        let reporter = rows::user(tx, "reporter")?;
        let group = rows::group(tx, "group")?;
        let project = rows::project(tx, group, maintainer, "project")?;
        let levels = vec![
            (maintainer, AccessLevel::Maintainer),
            (other_maintainer, AccessLevel::Maintainer),
            (developer, AccessLevel::Developer),
            (reporter, AccessLevel::Reporter),
        ];
        let members = Members { levels, group, in_group: vec![other_maintainer] };
        Ok(Self { maintainer, other_maintainer, developer, reporter, group, project, members })
    }

    pub(crate) fn standing(&self, user: UserId) -> Standing {
        let known = self.members.levels.iter().find(|(one, _)| *one == user);
        let level = known.map_or(AccessLevel::NoAccess, |(_, level)| *level);
        let actor = Actor { id: Some(user), ..Actor::ANONYMOUS };
        Standing::in_scope(actor, level, Visibility::Private)
    }

    /// What somebody may do in the project.
    pub(crate) fn may<A: Ability<Scope = Project>>(&self, user: UserId) -> Result<Grant<A>> {
        let facts = ProjectFacts {
            id: self.project,
            namespace_id: self.group,
            name: "Project".to_owned(),
            full_path: "group/project".to_owned(),
            default_branch: Some("main".to_owned()),
            first_push: AccessLevel::Maintainer,
            visibility: Visibility::Private,
            archived: false,
            features: Features::ALL_ENABLED,
        };
        Grant::check(&self.standing(user), Project(Arc::new(facts)))
    }

    pub(crate) fn environment(&self, tx: &mut Tx<'_>, name: &str) -> Result<Environment> {
        let grant = self.may::<ChangeEnvironments>(self.maintainer)?;
        actions::create(tx, &grant, name.to_owned(), None, None)
    }

    pub(crate) fn stopped_environment(&self, tx: &mut Tx<'_>, name: &str) -> Result<Environment> {
        let made = self.environment(tx, name)?;
        actions::step(tx, made, EnvironmentStep::StopComplete)
    }

    /// A deployment of a branch whose commit is called as the branch.
    pub(crate) fn deployment(
        &self,
        tx: &mut Tx<'_>,
        environment: EnvironmentId,
        branch: &str,
        status: DeploymentStatus,
    ) -> Result<Deployment> {
        tx.insert_deployment(&Deployment {
            id: DeploymentId(0),
            project_id: self.project,
            environment_id: environment,
            iid: 0,
            ref_name: branch.to_owned(),
            tag: false,
            sha: branch.to_owned(),
            user_id: Some(self.developer),
            job_id: None,
            status,
            on_stop: None,
            environment_url: None,
            auto_stop_in: None,
            created_at: tx.now,
            updated_at: tx.now,
            finished_at: status.is_finished().then_some(tx.now),
        })
    }

    /// Protects an environment of the project.
    pub(crate) fn protect(
        &self,
        tx: &mut Tx<'_>,
        name: &str,
        deployers: Vec<NewAccess>,
        approvers: Vec<NewAccess>,
    ) -> Result<Protection> {
        let grant = self.may::<ProtectEnvironments>(self.maintainer)?;
        let new = NewProtection {
            name: name.to_owned(),
            deployers,
            approvers,
            required_approval_count: 0,
        };
        protect(tx, &grant, &self.members, &new)
    }

    /// Protects a tier below the group.
    pub(crate) fn protect_tier(
        &self,
        tx: &mut Tx<'_>,
        tier: &str,
        deployers: Vec<NewAccess>,
    ) -> Result<Protection> {
        let facts = GroupFacts {
            id: self.group,
            name: "Group".to_owned(),
            full_path: "group".to_owned(),
            visibility: Visibility::Private,
        };
        let who = self.standing(self.maintainer);
        let grant = Grant::<ProtectGroupEnvironments>::check(&who, Group(Arc::new(facts)))?;
        let new = NewProtection { name: tier.to_owned(), deployers, ..NewProtection::default() };
        protect(tx, &grant, &self.members, &new)
    }
}

/// What somebody reports who deploys to production.
pub(crate) fn report(sha: &str, status: StatusReport) -> NewDeployment {
    NewDeployment {
        environment: "production".to_owned(),
        ref_name: "main".to_owned(),
        tag: false,
        sha: sha.to_owned(),
        status,
    }
}
