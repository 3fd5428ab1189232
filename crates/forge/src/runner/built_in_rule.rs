//! The projects whose jobs the built-in runner takes.

use std::{
    collections::HashSet,
    sync::{
        OnceLock,
        atomic::{AtomicBool, Ordering},
    },
};

use db::Tx;
use kernel::{
    Result,
    ids::{NamespaceId, ProjectId, RunnerId, UserId},
};
use org::user::store::UserStore as _;
use runners::matching::QueueProject;

/// The projects whose jobs the built-in runner takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JobOwners {
    /// Those that administrators have started, as parts of pipelines that administrators have started.
    Administrators,
    Places(ProjectSelection),
    Everybody,
    /// It is not meant to run now.
    Nobody,
}

/// Projects, and groups with all that lies in them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProjectSelection {
    pub projects: HashSet<ProjectId>,
    pub groups: HashSet<NamespaceId>,
}

/// Which runner it is, and whose jobs it does, as long as this process runs.
#[derive(Debug, Default)]
pub struct BuiltIn {
    rule: OnceLock<(RunnerId, JobOwners)>,
    /// Whether it takes no more jobs, since the server stops.
    rests: AtomicBool,
}

impl BuiltIn {
    /// Said once, before any runner asks for jobs.
    pub fn set(&self, runner: RunnerId, whose: JobOwners) {
        // A second word would let it do more than the first one said.
        let _kept = self.rule.set((runner, whose));
    }

    /// From now on it gets no more jobs.
    pub fn rest(&self) {
        self.rests.store(true, Ordering::Release);
    }

    /// Whose jobs a runner does as far as this rule goes; there is none for other runners.
    pub(super) fn whose(&self, runner: RunnerId) -> JobOwners {
        match self.rule.get() {
            Some((own, _)) if *own == runner && self.rests.load(Ordering::Acquire) => {
                JobOwners::Nobody
            }
            Some((own, whose)) if *own == runner => whose.clone(),
            _ => JobOwners::Everybody,
        }
    }
}

impl JobOwners {
    /// Whether the rule lets it do jobs of this project at all.
    pub(super) fn serves(&self, home: &QueueProject) -> bool {
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
