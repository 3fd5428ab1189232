//! A project with people of several roles, whose pipelines are made from texts; and a fake of everything around it.

mod around;

use std::sync::Arc;

use db::{
    Tx,
    testing::{facts, rows, transaction},
};
use forgeway_ci::{
    Status,
    config::{compile, input::PipelineInput, variables::OuterVariables},
    job::{End, Job, JobStore as _, MotionStore as _, progress},
    pipeline::{
        Content, NewPipeline, Pipeline, PipelineRef, PipelineStore as _, PlanWithSpecs, Source,
        creation::create,
    },
};
use kernel::{
    Ability, AccessLevel, Actor, Error, Grant, Result, Standing, Visibility,
    access::Project,
    error::Kind,
    ids::{JobId, NamespaceId, PipelineId, ProjectId, UserId},
};
use secrets::Vault;
use tempfile::TempDir;
use time::Duration;

pub(crate) use around::FakeForge;

/// The commit of every pipeline.
pub(crate) const SHA: &str = "1111111111111111111111111111111111111111";

pub(crate) struct World {
    pub(crate) owner: UserId,
    pub(crate) developer: UserId,
    pub(crate) reporter: UserId,
    pub(crate) project: ProjectId,
    pub(crate) other: ProjectId,
    pub(crate) vault: Vault,
    group: NamespaceId,
    _folder: TempDir,
}

/// Runs a test in one transaction of a database of its own.
pub(crate) fn test(body: fn(&mut Tx<'_>, &World) -> Result<()>) {
    transaction(move |tx| {
        let world = World::new(tx)?;
        body(tx, &world)
    });
}

impl World {
    fn new(tx: &mut Tx<'_>) -> Result<Self> {
        let owner = rows::user(tx, "owner")?;
        let developer = rows::user(tx, "developer")?;
        let reporter = rows::user(tx, "reporter")?;
        let group = rows::group(tx, "group")?;
        let project = rows::project(tx, group, owner, "project")?;
        let other = rows::project(tx, group, owner, "other")?;
        let folder = tempfile::tempdir().map_err(Error::internal)?;
        let vault = Vault::find_or_make(folder.path()).map_err(Error::internal)?;
        Ok(Self { owner, developer, reporter, project, other, vault, group, _folder: folder })
    }

    /// How somebody stands in the projects.
    fn standing(&self, user: UserId) -> Standing {
        let level = match user {
            user if user == self.owner => AccessLevel::Owner,
            user if user == self.developer => AccessLevel::Developer,
            user if user == self.reporter => AccessLevel::Reporter,
            _ => AccessLevel::NoAccess,
        };
        let actor = Actor { id: Some(user), ..Actor::ANONYMOUS };
        Standing::in_scope(actor, level, Visibility::Public)
    }

    /// What somebody may do in the first project.
    pub(crate) fn may<A: Ability<Scope = Project>>(&self, user: UserId) -> Result<Grant<A>> {
        let facts = facts::project(self.project, self.group);
        Grant::check(&self.standing(user), Project(Arc::new(facts)))
    }

    /// A push of the developer to main.
    pub(crate) fn push(&self) -> NewPipeline {
        let place = PipelineRef { name: "main".to_owned(), tag: false };
        NewPipeline::of(self.project, SHA, place, Source::Push, Some(self.developer))
    }

    /// The pipeline that a push of the developer makes with this configuration.
    pub(crate) fn pipeline(&self, tx: &mut Tx<'_>, text: &str) -> Result<PipelineId> {
        Ok(self.made(tx, self.push(), text)?.id)
    }

    pub(crate) fn made(&self, tx: &mut Tx<'_>, new: NewPipeline, text: &str) -> Result<Pipeline> {
        create(tx, &self.vault, new, &jobs(text)?)
    }

    /// How far a pipeline of the first project is.
    pub(crate) fn status(&self, tx: &mut Tx<'_>, id: PipelineId) -> Result<Status> {
        let found = tx.find_pipeline(self.project, id)?;
        Ok(found.ok_or_else(Error::missing)?.status)
    }
}

/// What a configuration comes to.
pub(crate) fn jobs(text: &str) -> Result<Content> {
    let known = OuterVariables::default();
    let plan = compile(text, &PipelineInput::push("main", "group/project", &known));
    let plan = plan.and_then(PlanWithSpecs::new);
    let plan = plan.map_err(|refusal| Error::bad_request().because(refusal.sentence()))?;
    Ok(Content::Jobs(plan))
}

/// The newest job of each name with how far it is, in the order of the configuration.
pub(crate) fn statuses(tx: &mut Tx<'_>, pipeline: PipelineId) -> Result<Vec<(String, Status)>> {
    let mut members = tx.members(pipeline)?;
    members.sort_by_key(|member| (member.stage_position, member.id));
    Ok(members.into_iter().map(|member| (member.name, member.status)).collect())
}

/// The same as one text: `build=success unit=pending`.
pub(crate) fn shown(tx: &mut Tx<'_>, pipeline: PipelineId) -> Result<String> {
    let all = statuses(tx, pipeline)?;
    let one = |(name, status): (String, Status)| format!("{name}={status}");
    Ok(all.into_iter().map(one).collect::<Vec<_>>().join(" "))
}

/// The newest job of that name.
pub(crate) fn job(tx: &mut Tx<'_>, pipeline: PipelineId, name: &str) -> Result<Job> {
    let members = tx.members(pipeline)?;
    let found = members.into_iter().find(|member| member.name == name);
    tx.job(found.ok_or_else(Error::missing)?.id)
}

/// A runner takes the newest job of that name.
pub(crate) fn run(tx: &mut Tx<'_>, pipeline: PipelineId, name: &str) -> Result<JobId> {
    let id = job(tx, pipeline, name)?.id;
    Ok(progress::run(tx, id, None)?.id)
}

/// A runner takes the newest job of that name and ends it.
pub(crate) fn end(tx: &mut Tx<'_>, pipeline: PipelineId, name: &str, end: End) -> Result<Job> {
    let id = run(tx, pipeline, name)?;
    progress::finish(tx, id, end)
}

pub(crate) fn succeed(tx: &mut Tx<'_>, pipeline: PipelineId, name: &str) -> Result<()> {
    end(tx, pipeline, name, End::Success).map(drop)
}

pub(crate) fn fail(tx: &mut Tx<'_>, pipeline: PipelineId, name: &str) -> Result<()> {
    end(tx, pipeline, name, End::failed("script_failure")).map(drop)
}

/// The rest of the test is so much later.
pub(crate) fn wait(tx: &mut Tx<'_>, span: Duration) {
    tx.now = tx.now.plus(span);
}

/// Whether somebody is refused.
pub(crate) fn is_forbidden<T>(outcome: &Result<T>) -> bool {
    outcome.as_ref().is_err_and(|refused| refused.kind == Kind::Forbidden)
}
