//! Cleanup of stopped and stale environments.

use db::Tx;
use kernel::{Error, Grant, Result, Ts, ids::EnvironmentId};
use time::Duration;

use super::{Environment, EnvironmentCleanupStore as _, actions::delete};
use crate::{
    policy::{RemoveReviewApps, StopStaleEnvironments},
    ports::Members,
    protection::guard::open_to,
};

/// The least and the most age of a last deployment for an environment to count as stale.
const STALE: (Duration, Duration) = (Duration::weeks(1), Duration::days(3652));
/// Default age of review apps that are removed.
const REVIEW_APP_AGE: Duration = Duration::days(30);
/// Time between the request and the removal.
const GRACE: Duration = Duration::weeks(1);
/// Whoever chooses for so long was interrupted.
const REMOVAL_TIMEOUT: Duration = Duration::minutes(2);

/// Checks since when nothing may have happened to environments that are to be stopped for that.
///
/// # Errors
/// `BadRequest` for a moment that is too near or too far.
pub fn ensure_stale_moment(now: Ts, _: &Grant<StopStaleEnvironments>, before: Ts) -> Result<()> {
    let (least, most) = STALE;
    match now.plus(-most) <= before && before <= now.plus(-least) {
        true => Ok(()),
        false => Err(Error::bad_request().because("Invalid Date")),
    }
}

/// Which stopped environments of branches are to be removed.
#[derive(Clone, Copy, Debug)]
pub struct ReviewAppFilter {
    /// They were made before. Default: 30 days ago.
    pub before: Option<Ts>,
    /// At most so many.
    pub limit: i64,
}

/// The environments that are removed in a week, or those because of which none is.
#[derive(Clone, Debug, Default)]
pub struct ReviewAppRemoval {
    pub scheduled: Vec<Environment>,
    /// Protected from the caller.
    pub unprocessable: Vec<Environment>,
}

/// Begins to choose environments of branches for removal; the moment is for [`end_removal`]. `None` where somebody else does
/// so.
pub fn begin_removal(tx: &mut Tx<'_>, grant: &Grant<RemoveReviewApps>) -> Result<Option<Ts>> {
    let now = tx.now;
    let is_ours = tx.begin_removal(grant.project(), now.plus(-REMOVAL_TIMEOUT))?;
    Ok(is_ours.then_some(now))
}

/// Whether somebody chooses environments of branches for removal.
pub fn is_removal_under_way(tx: &mut Tx<'_>, grant: &Grant<RemoveReviewApps>) -> Result<bool> {
    let begun = tx.removal_begun(grant.project())?;
    Ok(begun.is_some_and(|begun| tx.now < begun.plus(REMOVAL_TIMEOUT)))
}

pub fn end_removal(tx: &mut Tx<'_>, grant: &Grant<RemoveReviewApps>, begun: Ts) -> Result<()> {
    tx.end_removal(grant.project(), begun)
}

/// Stopped environments of branches that a removal is about; where one is protected from the caller, only such ones.
pub fn review_apps(
    tx: &mut Tx<'_>,
    grant: &Grant<RemoveReviewApps>,
    members: &impl Members,
    filter: ReviewAppFilter,
) -> Result<ReviewAppRemoval> {
    let before = filter.before.unwrap_or_else(|| tx.now.plus(-REVIEW_APP_AGE));
    let found = tx.stopped_review_apps(grant.project(), before, filter.limit)?;
    let open = open_to(tx, members, grant.who(), grant.project(), &found)?;
    let (own, foreign): (Vec<_>, Vec<_>) = found.into_iter().zip(open).partition(|(_, open)| *open);
    let all = |some: Vec<(Environment, bool)>| some.into_iter().map(|(one, _)| one).collect();
    Ok(match foreign.is_empty() {
        true => ReviewAppRemoval { scheduled: all(own), unprocessable: Vec::new() },
        false => ReviewAppRemoval { scheduled: Vec::new(), unprocessable: all(foreign) },
    })
}

/// As [`review_apps`]; what is scheduled goes in a week.
pub fn schedule_removal(
    tx: &mut Tx<'_>,
    grant: &Grant<RemoveReviewApps>,
    members: &impl Members,
    filter: ReviewAppFilter,
) -> Result<ReviewAppRemoval> {
    let mut removal = review_apps(tx, grant, members, filter)?;
    let ids: Vec<EnvironmentId> = removal.scheduled.iter().map(|one| one.id).collect();
    if !ids.is_empty() {
        let at = tx.now.plus(GRACE);
        let going = tx.delete_environments_at(&ids, at)?;
        // Something was brought to the others in this moment.
        removal.scheduled.retain(|one| going.contains(&one.id));
    }
    Ok(removal)
}

/// Removes at most `most` environments that are due. Returns whether there may be more.
pub fn remove_outlived(tx: &mut Tx<'_>, most: i64) -> Result<bool> {
    let outlived = tx.outlived_environments(most)?;
    for environment in &outlived {
        delete(tx, environment)?;
    }
    Ok(i64::try_from(outlived.len()).is_ok_and(|found| found >= most))
}
