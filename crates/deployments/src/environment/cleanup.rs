//! Environments that nobody needs any more.

use db::Tx;
use kernel::{Error, Grant, Result, Ts};
use time::Duration;

use super::{Environment, EnvironmentStore as _, actions::delete};
use crate::policy::{RemoveReviewApps, StopStaleEnvironments};

/// The least and the most time that nothing happened to what is stopped for that.
const STALE: (Duration, Duration) = (Duration::weeks(1), Duration::days(3652));
/// Without a moment, environments of branches that were made before are removed.
const REVIEW_APP_AGE: Duration = Duration::days(30);
/// So long after somebody asked for it they are removed.
const GRACE: Duration = Duration::weeks(1);

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

/// Removes stopped environments of branches in a week, so many at most; `dry_run` only tells which.
pub fn remove_review_apps(
    tx: &mut Tx<'_>,
    grant: &Grant<RemoveReviewApps>,
    before: Option<Ts>,
    most: i64,
    dry_run: bool,
) -> Result<Vec<Environment>> {
    let before = before.unwrap_or_else(|| tx.now.plus(-REVIEW_APP_AGE));
    let scheduled = tx.stopped_review_apps(grant.project(), before, most)?;
    if !dry_run {
        let at = tx.now.plus(GRACE);
        for environment in &scheduled {
            let marked = Environment { auto_delete_at: Some(at), ..environment.clone() };
            tx.save_environment(&marked)?;
        }
    }
    Ok(scheduled)
}

/// Removes environments whose time to go has come, so many at most. Returns whether there may be more.
pub fn remove_outlived(tx: &mut Tx<'_>, most: i64) -> Result<bool> {
    let outlived = tx.outlived_environments(most)?;
    for environment in &outlived {
        delete(tx, environment)?;
    }
    Ok(i64::try_from(outlived.len()).is_ok_and(|found| found >= most))
}
