//! Numbers of open assignments and to-dos of a user.

use db::Tx;
use kernel::{
    Actor, Result,
    page::{PageRequest, Total},
};

use super::actions::{TodoFilter, list};
use crate::{
    issue::{
        IssueState,
        list::{self as issues, IssueFilter},
    },
    item::list::{Choice, Common},
    merge_request::{
        MergeRequestState,
        list::{self as merge_requests, MergeRequestFilter},
    },
    ports::{Deployments, Forge, GroupHierarchy, Projects},
};

/// Open things that are given to somebody, and what they are asked.
#[derive(Clone, Copy, Debug, Default)]
pub struct AssignmentCounts {
    pub issues: i64,
    pub merge_requests: i64,
    pub reviews: i64,
    pub todos: i64,
}

pub fn open_counts(
    tx: &mut Tx<'_>,
    forge: &impl Forge,
    places: &(impl Projects + GroupHierarchy + Deployments),
    actor: Actor,
) -> Result<AssignmentCounts> {
    let given = vec![Choice::These(vec![actor.user()?])];
    let of_issues = IssueFilter {
        common: Common { assignees: given.clone(), ..Common::default() },
        state: Some(IssueState::Opened),
        ..IssueFilter::default()
    };
    let among = issues::IssueSet::Everywhere;
    let asked = issues::IssueQuery { actor, among, archived: false, filter: &of_issues };
    let issues = issues::count_all_of(tx, places, &asked)?;
    let open = || MergeRequestFilter {
        state: Some(MergeRequestState::Opened),
        ..MergeRequestFilter::default()
    };
    let assigned = MergeRequestFilter {
        common: Common { assignees: given.clone(), ..Common::default() },
        ..open()
    };
    let asked_for = MergeRequestFilter { reviewers: given, ..open() };
    let mut count = |filter: &MergeRequestFilter| {
        let among = merge_requests::MergeRequestSet::Everywhere;
        let asked = merge_requests::MergeRequestQuery { actor, among, archived: false, filter };
        merge_requests::count_all_of(tx, places, &asked)
    };
    let (merge_requests, reviews) = (count(&assigned)?, count(&asked_for)?);
    let one = PageRequest { page: 1, per_page: 1 };
    let todos = match list(tx, forge, actor, &TodoFilter::default(), one)?.total {
        Total::Counted(total) => total,
        Total::Uncounted { .. } => 0,
    };
    Ok(AssignmentCounts { issues, merge_requests, reviews, todos })
}
