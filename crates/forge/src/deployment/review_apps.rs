//! Stopped environments of branches are chosen for removal, by one person at a time in each project.

use deployments::{
    environment::cleanup::{
        ReviewAppFilter, ReviewAppRemoval, begin_removal, end_removal, is_removal_under_way,
        review_apps, schedule_removal,
    },
    policy::RemoveReviewApps,
};
use kernel::{Grant, Result};

use crate::{Forge, ports::deployments::Members};

/// Chooses the environments and lets them go in a week; `dry_run` only chooses. `None` while somebody else does so.
pub async fn remove_review_apps(
    forge: &Forge,
    grant: Grant<RemoveReviewApps>,
    filter: ReviewAppFilter,
    dry_run: bool,
) -> Result<Option<ReviewAppRemoval>> {
    if dry_run {
        let chosen = forge.db.read(move |tx| match is_removal_under_way(tx, &grant)? {
            true => Ok(None),
            false => review_apps(tx, &grant, &Members, filter).map(Some),
        });
        return chosen.await;
    }
    let own = grant.clone();
    let Some(begun) = forge.db.write(move |tx| begin_removal(tx, &own)).await? else {
        return Ok(None);
    };
    let own = grant.clone();
    let scheduled = forge.db.write(move |tx| {
        let removal = schedule_removal(tx, &own, &Members, filter)?;
        end_removal(tx, &own, begun)?;
        Ok(removal)
    });
    match scheduled.await {
        Ok(removal) => Ok(Some(removal)),
        Err(failure) => {
            // The next one need not wait until this one counts as interrupted.
            forge.db.write(move |tx| end_removal(tx, &grant, begun)).await.ok();
            Err(failure)
        }
    }
}
