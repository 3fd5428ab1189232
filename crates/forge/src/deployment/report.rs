//! A deployment that somebody reports.

use deployments::{
    deployment::{Deployment, NewDeployment, actions},
    policy::ChangeDeployments,
};
use kernel::{Faults, Grant, Result};
use repo::{commit::read::find_commit, git::RefName};

use super::run_now;
use crate::{Forge, ports::deployments::Members};

/// Notes what somebody deployed, which has to be a commit of the project.
///
/// # Errors
/// `BadRequest`, by field, for a commit, branch or tag that is not there, and for an impossible name of an environment.
pub async fn report(
    forge: &Forge,
    grant: Grant<ChangeDeployments>,
    new: NewDeployment,
) -> Result<Deployment> {
    let (sha, named) = (new.sha.clone(), named_ref(&new));
    let found = forge.git_read(grant.project(), move |reader| {
        let tip = match named {
            Some(name) => reader.find_reference(&name)?.and_then(|found| found.commit),
            None => None,
        };
        Ok((find_commit(reader, &sha)?, tip))
    });
    let (commit, tip) = match found.await {
        Err(gone) if gone.is_not_found("Repository") => (None, None),
        found => found?,
    };
    let mut faults = Faults::default();
    if commit.is_none() {
        faults.add("sha", "The commit does not exist");
    }
    if tip.is_none() {
        faults.add("ref", "The branch or tag does not exist");
    }
    faults.into_result()?;
    // Short names of commits would not be found again.
    let sha = commit.map_or_else(|| new.sha.clone(), |id| id.to_string());
    let new = NewDeployment { sha, ..new };
    let made = forge.db.write(move |tx| actions::create(tx, &grant, &Members, new.clone())).await?;
    run_now(forge, made.id).await;
    Ok(made)
}

/// The branch, or the tag where the caller says that it is one; nothing where no ref can have the name.
fn named_ref(new: &NewDeployment) -> Option<RefName> {
    let named = if new.tag { RefName::tag(&new.ref_name) } else { RefName::branch(&new.ref_name) };
    named.ok()
}
