//! The runner that a server brings along. Commands of its jobs run where the server runs, so it does not do everybody's.

use std::{
    collections::HashSet,
    sync::{
        OnceLock,
        atomic::{AtomicBool, Ordering},
    },
};

use ci::job::{End, QueueStore as _, progress::finish};
use db::Tx;
use kernel::{
    Result,
    ids::{NamespaceId, ProjectId, RunnerId, UserId},
};
use org::{
    namespace::{Kind, store::NamespaceStore as _},
    project::store::ProjectStore as _,
    user::store::UserStore as _,
};
use runners::{
    matching::Home,
    runner::{Attributes, Owner, Runner, RunnerStore as _, RunnerToken, register},
};

use crate::{Forge, pipeline};

/// What people read who look at the list of runners.
const DESCRIPTION: &str = "Built-in runner of this server (shell)";

/// Whose jobs the runner does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Whose {
    /// Those that administrators have started, as parts of pipelines that administrators have started.
    Administrators,
    Places(Places),
    Everybody,
    /// It is not meant to run now.
    Nobody,
}

/// Projects, and groups with all that lies in them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Places {
    pub projects: HashSet<ProjectId>,
    pub groups: HashSet<NamespaceId>,
}

/// Which runner it is, and whose jobs it does, as long as this process runs.
#[derive(Debug, Default)]
pub struct BuiltIn {
    rule: OnceLock<(RunnerId, Whose)>,
    /// Whether it takes no more jobs, since the server stops.
    rests: AtomicBool,
}

impl BuiltIn {
    /// Said once, before any runner asks for jobs.
    pub fn set(&self, runner: RunnerId, whose: Whose) {
        // A second word would let it do more than the first one said.
        let _kept = self.rule.set((runner, whose));
    }

    /// From now on it gets no more jobs.
    pub fn rest(&self) {
        self.rests.store(true, Ordering::Release);
    }

    /// Whose jobs a runner does as far as this rule goes; there is none for other runners.
    pub(super) fn whose(&self, runner: RunnerId) -> Whose {
        match self.rule.get() {
            Some((own, _)) if *own == runner && self.rests.load(Ordering::Acquire) => Whose::Nobody,
            Some((own, whose)) if *own == runner => whose.clone(),
            _ => Whose::Everybody,
        }
    }
}

impl Whose {
    /// Whether the rule lets it do jobs of this project at all.
    pub(super) fn serves(&self, home: &Home) -> bool {
        match self {
            Self::Places(places) => {
                places.projects.contains(&home.project)
                    || home.groups.iter().any(|group| places.groups.contains(group))
            }
            Self::Administrators | Self::Everybody => true,
            Self::Nobody => false,
        }
    }

    /// The people who must have started a job and its pipeline; `None` where it may be anybody.
    pub(super) fn starters(&self, tx: &mut Tx<'_>) -> Result<Option<Vec<UserId>>> {
        match self {
            Self::Administrators => tx.administrators().map(Some),
            Self::Places(_) | Self::Everybody | Self::Nobody => Ok(None),
        }
    }
}

/// The runner with this token, unless somebody has removed it.
pub async fn find(forge: &Forge, token: RunnerToken) -> Result<Option<Runner>> {
    forge.db.read(move |tx| tx.find_runner_by_token(&token.digest())).await
}

/// The runner with this token; where nobody has it, a new one of the installation.
pub async fn enroll(forge: &Forge, token: RunnerToken) -> Result<Runner> {
    let enrolled = forge.db.write(move |tx| {
        if let Some(known) = tx.find_runner_by_token(&token.digest())? {
            return Ok(known);
        }
        let attributes =
            Attributes { description: Some(DESCRIPTION.to_owned()), ..Attributes::default() };
        register::create(tx, Owner::Instance, None, attributes, &token)
    });
    enrolled.await
}

/// Ends the jobs that the runner had when its process was killed: nobody does them any more. Returns how many.
pub async fn fail_left_behind(forge: &Forge, runner: RunnerId) -> Result<usize> {
    let left = forge.db.write(move |tx| {
        let jobs = tx.running_of(runner.0)?;
        let failed = jobs.iter().map(|id| finish(tx, *id, End::failed("runner_system_failure")));
        failed.collect::<Result<Vec<_>>>()
    });
    let left = left.await?;
    for job in &left {
        pipeline::hurry(forge, job.pipeline_id).await;
    }
    Ok(left.len())
}

/// The projects and groups at these full paths, and the paths where there is neither. They are looked up once: who takes
/// a name later does not take the place with it.
pub async fn places(forge: &Forge, paths: Vec<String>) -> Result<(Places, Vec<String>)> {
    let found = forge.db.read(move |tx| {
        let (mut places, mut unknown) = (Places::default(), Vec::new());
        for path in &paths {
            let group = tx.find_namespace_at(path)?.filter(|found| found.kind == Kind::Group);
            match (tx.find_project_at(path)?, group) {
                (Some(project), _) => places.projects.extend([project.id]),
                (None, Some(group)) => places.groups.extend([group.id]),
                (None, None) => unknown.push(path.clone()),
            }
        }
        Ok((places, unknown))
    });
    found.await
}
