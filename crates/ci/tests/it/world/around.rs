//! The answers of other domains.

use std::collections::HashMap;

use db::Tx;
use forgeway_ci::{
    job::Job,
    pipeline::PipelineRef,
    ports::{DeployRight, PlanLimits, Projects, RefAccess, Refs},
    variable::VariableOwner,
};
use kernel::{
    Result, Standing, Ts,
    ids::{MergeRequestId, ProjectId},
};

/// A world in which nothing is protected, archived or limited, unless a test says so.
#[derive(Clone, Debug)]
pub(crate) struct FakeForge {
    /// Whether branches and tags are protected from everybody.
    pub(crate) closed: bool,
    /// What environments let everybody do.
    pub(crate) deploy_right: DeployRight,
    pub(crate) awaits_approval: bool,
    pub(crate) archived_before: Option<Ts>,
    /// Whether only Maintainers set variables.
    pub(crate) restricts_variables: bool,
    /// How much there may be of everything; 0 is no limit.
    pub(crate) limit: i64,
}

impl Default for FakeForge {
    fn default() -> Self {
        Self {
            closed: false,
            deploy_right: DeployRight::Open,
            awaits_approval: false,
            archived_before: None,
            restricts_variables: false,
            limit: 0,
        }
    }
}

impl Projects for FakeForge {
    fn has_public_jobs(&self, _: &mut Tx<'_>, _: ProjectId) -> Result<bool> {
        Ok(true)
    }

    fn restricts_variables(&self, _: &mut Tx<'_>, _: ProjectId) -> Result<bool> {
        Ok(self.restricts_variables)
    }
}

impl PlanLimits for FakeForge {
    fn schedules(&self, _: &mut Tx<'_>) -> Result<i64> {
        Ok(self.limit)
    }

    fn triggers(&self, _: &mut Tx<'_>) -> Result<i64> {
        Ok(self.limit)
    }

    fn variables(&self, _: &mut Tx<'_>, _: VariableOwner) -> Result<i64> {
        Ok(self.limit)
    }
}

impl Refs for FakeForge {
    fn deploy_right(&self, _: &mut Tx<'_>, _: &Standing, _: &Job) -> Result<DeployRight> {
        Ok(self.deploy_right)
    }

    fn is_outdated(&self, _: &mut Tx<'_>, _: &Job) -> Result<bool> {
        Ok(false)
    }

    fn archived_before(&self, _: &mut Tx<'_>) -> Result<Option<Ts>> {
        Ok(self.archived_before)
    }

    fn awaits_approval(&self, _: &mut Tx<'_>, _: &Job) -> Result<bool> {
        Ok(self.awaits_approval)
    }

    fn guarded_places(
        &self,
        _: &mut Tx<'_>,
        _: &Standing,
        _: ProjectId,
        places: &[PipelineRef],
    ) -> Result<Vec<RefAccess>> {
        let access = RefAccess { protected: self.closed, open: !self.closed };
        Ok(vec![access; places.len()])
    }

    fn source_branches(
        &self,
        _: &mut Tx<'_>,
        _: &[MergeRequestId],
    ) -> Result<HashMap<MergeRequestId, String>> {
        Ok(HashMap::new())
    }
}
