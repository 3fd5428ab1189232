//! Lists of the runners that projects and groups have.

use db::Tx;
use kernel::{
    Error, Grant, Result,
    page::{Page, PageRequest},
};
use org::{
    hierarchy::{above_group, below_group, projects_in},
    runner_places::job_homes,
};
use runners::{
    policy::{ReadGroupRunners, ReadProjectRunners},
    runner::{Runner, RunnerFilter, actions},
};

/// Which runners a group has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunnerMembership {
    /// Its own.
    Direct,
    /// Its own, and those of the groups and projects below it.
    Descendants,
    /// All that its projects may use: its own, those of the groups above it, and instance runners.
    AllAvailable,
}

/// A page of the runners that do the jobs of a project.
pub fn of_project(
    tx: &mut Tx<'_>,
    grant: &Grant<ReadProjectRunners>,
    filter: &RunnerFilter,
    page: PageRequest,
) -> Result<Page<Runner>> {
    let home = job_homes(tx, &[grant.project()])?.pop().ok_or_else(Error::missing)?;
    let groups = if home.group_runners { home.groups } else { Vec::new() };
    actions::list_of_project(tx, grant, groups, home.instance_runners, filter, page)
}

/// A page of the runners of a group.
pub fn of_group(
    tx: &mut Tx<'_>,
    grant: &Grant<ReadGroupRunners>,
    membership: RunnerMembership,
    filter: &RunnerFilter,
    page: PageRequest,
) -> Result<Page<Runner>> {
    let (group, actor) = (grant.group(), grant.actor());
    let below = match membership {
        RunnerMembership::AllAvailable => {
            let above = above_group(tx, group)?;
            return actions::list_of_group(tx, grant, above, filter, page);
        }
        RunnerMembership::Direct => (Vec::new(), Vec::new()),
        RunnerMembership::Descendants => {
            let groups = below_group(tx, actor, group)?;
            let all: Vec<_> = groups.iter().copied().chain([group]).collect();
            (groups, projects_in(tx, actor, &all)?)
        }
    };
    actions::list_below_group(tx, grant, below, filter, page)
}
