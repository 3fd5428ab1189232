//! Projects in which pipelines, runners, deployments and alerts are, with how the caller stands there.

use std::sync::Arc;

use graphql::Failure;
use kernel::{
    Ability, Error, Grant, Result, Standing,
    access::{Group, Project, ProjectFacts},
    ids::{NamespaceId, ProjectId},
};
use org::access::{IdOrPath, locate_group, locate_project};

use super::loaders::CiLoaders;
use crate::{context::Context, failure::failure_of, projects::ProjectRecord, values::path_of};

/// A project, and how the caller stands there.
#[derive(Clone, Debug)]
pub struct LocatedProject {
    pub project: Project,
    pub who: Standing,
}

impl LocatedProject {
    pub fn of(record: &ProjectRecord) -> Arc<Self> {
        Arc::new(Self { project: Project(record.facts.clone()), who: record.who })
    }

    pub fn id(&self) -> ProjectId {
        self.project.0.id
    }

    pub fn facts(&self) -> &Arc<ProjectFacts> {
        &self.project.0
    }

    /// The proof of an ability in the project.
    ///
    /// # Errors
    /// Where the caller does not have it.
    pub fn grant<A: Ability<Scope = Project>>(&self) -> Result<Grant<A>> {
        if !A::OPEN && !self.who.signed_in() {
            return Err(Error::unauthenticated());
        }
        Grant::check(&self.who, self.project.clone())
    }

    pub fn may<A: Ability<Scope = Project>>(&self) -> bool {
        self.grant::<A>().is_ok()
    }

    /// The path of a page of the project, such as `-/pipelines/1`.
    pub fn page(&self, context: &Context, rest: &str) -> String {
        let urls = &context.forge.urls;
        path_of(urls, &urls.at(&format!("{}/{rest}", self.facts().full_path)))
    }
}

/// A project by its id, where the caller may know of it.
///
/// # Errors
/// When the database failed.
pub async fn find(
    context: &Context,
    id: ProjectId,
) -> Result<Option<Arc<LocatedProject>>, Failure> {
    CiLoaders::of(context).homes.load(id).await
}

/// As [`find`], for a mutation.
///
/// # Errors
/// `NotFoundOrForbidden` where the caller may not know of it.
pub async fn expect(context: &Context, id: ProjectId) -> Result<Arc<LocatedProject>, Failure> {
    find(context, id).await?.ok_or(Failure::NotFoundOrForbidden)
}

/// A project by its path, for a mutation.
///
/// # Errors
/// `NotFoundOrForbidden` where the caller may not know of it.
pub async fn at(context: &Context, path: String) -> Result<Arc<LocatedProject>, Failure> {
    let actor = context.actor();
    let found =
        context.forge.db.read(move |tx| locate_project(tx, actor, &IdOrPath::Path(path))).await;
    let (project, who) = found.map_err(failure_of)?;
    Ok(Arc::new(LocatedProject { project, who }))
}

/// The proof of an ability in a group.
///
/// # Errors
/// `NotFoundOrForbidden` where the caller may not know of the group, or does not have the ability.
pub async fn group_grant<A>(context: &Context, id: NamespaceId) -> Result<Grant<A>, Failure>
where
    A: Ability<Scope = Group>,
{
    let actor = context.actor();
    if !A::OPEN && actor.id.is_none() {
        return Err(Failure::NotFoundOrForbidden);
    }
    let found = context.forge.db.read(move |tx| locate_group(tx, actor, &IdOrPath::Id(id.0))).await;
    let (group, who) = found.map_err(failure_of)?;
    Grant::check(&who, group).map_err(failure_of)
}

/// The proof of an ability in the installation.
///
/// # Errors
/// Where the caller does not have it.
pub fn instance_grant<A>(context: &Context) -> Result<Grant<A>>
where
    A: Ability<Scope = kernel::access::Instance>,
{
    let who = Standing::in_instance(context.actor());
    if !A::OPEN && !who.signed_in() {
        return Err(Error::unauthenticated());
    }
    Grant::check(&who, kernel::access::Instance)
}
