//! The interfaces that pipelines need from other domains.

use std::collections::HashMap;

use db::Tx;
use kernel::{
    Error, Result, Standing, Ts,
    ids::{MergeRequestId, ProjectId},
};

use crate::{job::Job, pipeline::PipelineRef, variable::VariableOwner};

/// CI settings of projects.
pub trait Projects {
    /// Whether everybody who sees a project sees its jobs.
    fn has_public_jobs(&self, tx: &mut Tx<'_>, project: ProjectId) -> Result<bool>;
    /// Whether only Maintainers set variables for pipelines.
    fn restricts_variables(&self, tx: &mut Tx<'_>, project: ProjectId) -> Result<bool>;
}

/// Plan limits set by administrators; 0 is no limit.
pub trait PlanLimits {
    /// Schedules of a project.
    fn schedules(&self, tx: &mut Tx<'_>) -> Result<i64>;
    /// Trigger tokens of a project.
    fn triggers(&self, tx: &mut Tx<'_>) -> Result<i64>;
    /// Variables of a project, of a group, or of the installation.
    fn variables(&self, tx: &mut Tx<'_>, home: VariableOwner) -> Result<i64>;
}

/// What is told where there are more of something than `limit`; nothing where 0 is no limit.
pub(crate) fn excess(name: &str, count: i64, limit: i64) -> Option<String> {
    (limit > 0 && count > limit).then(|| format!("Maximum number of {name} ({limit}) exceeded"))
}

/// The protection of branches and tags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RefAccess {
    pub protected: bool,
    /// Whether the caller may move it, and so do something with what runs for it.
    pub open: bool,
}

/// A user's permission on the environment of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeployRight {
    /// There is none, or it is open to everybody.
    Open,
    /// It is protected, and they are among those who deploy there.
    Deployer,
    Refused,
}

pub trait Refs {
    fn deploy_right(&self, tx: &mut Tx<'_>, who: &Standing, job: &Job) -> Result<DeployRight>;
    /// Whether a job that has not ended would replace something newer where it deploys to.
    fn is_outdated(&self, tx: &mut Tx<'_>, job: &Job) -> Result<bool>;
    /// Jobs and pipelines that were made until then are too old for anybody to change them; `None` where none is.
    fn archived_before(&self, tx: &mut Tx<'_>) -> Result<Option<Ts>>;
    /// Whether a job waits until others approve what it does.
    fn awaits_approval(&self, tx: &mut Tx<'_>, job: &Job) -> Result<bool>;
    /// How each of these branches and tags is protected, in their order; the rules are read once.
    fn guarded_places(
        &self,
        tx: &mut Tx<'_>,
        who: &Standing,
        project: ProjectId,
        places: &[PipelineRef],
    ) -> Result<Vec<RefAccess>>;
    /// The branches that merge requests propose, whose protection is that of the pipelines of the merge request.
    fn source_branches(
        &self,
        tx: &mut Tx<'_>,
        ids: &[MergeRequestId],
    ) -> Result<HashMap<MergeRequestId, String>>;

    fn guarded(
        &self,
        tx: &mut Tx<'_>,
        who: &Standing,
        project: ProjectId,
        place: &PipelineRef,
    ) -> Result<RefAccess> {
        let mut found = self.guarded_places(tx, who, project, std::slice::from_ref(place))?;
        found.pop().ok_or_else(Error::missing)
    }

    fn source_branch(&self, tx: &mut Tx<'_>, id: MergeRequestId) -> Result<Option<String>> {
        Ok(self.source_branches(tx, &[id])?.remove(&id))
    }
}
