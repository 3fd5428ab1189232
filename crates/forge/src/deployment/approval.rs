//! A deployment is approved or rejected, and its job goes on or fails.

use ci::job::{DEPLOYMENT_REJECTED, End, approval::release, progress::finish};
use db::Tx;
use deployments::{
    approval::{
        Approval,
        actions::{self, Consequence, Verdict, role_name},
    },
    policy::ReadDeployments,
    protection::Holder,
};
use kernel::{Grant, Result, error::Kind, ids::DeploymentId};
use org::{namespace::store::NamespaceStore as _, user::store::UserStore as _};

use crate::ports::deployments::Members;

/// Approves or rejects a deployment that waits for it. One rejection ends its job; enough approvals let it begin, where no
/// rules say who approves, and let people play it where some do.
pub fn decide(
    tx: &mut Tx<'_>,
    grant: &Grant<ReadDeployments>,
    id: DeploymentId,
    verdict: &Verdict,
) -> Result<Approval> {
    let (approval, consequence) = actions::decide(tx, grant, &Members, id, verdict, name_of)?;
    match consequence {
        Consequence::None => {}
        Consequence::Drop(job) => match finish(tx, job, End::failed(DEPLOYMENT_REJECTED)) {
            Err(failure) if !failure.is_whole(Kind::BadRequest) => return Err(failure),
            Ok(_) | Err(_) => {}
        },
        Consequence::Enqueue(job) => {
            release(tx, job)?;
        }
    }
    Ok(approval)
}

/// What the holder of a rule is called.
fn name_of(tx: &mut Tx<'_>, holder: Holder) -> Result<String> {
    Ok(match holder {
        Holder::Role(level) => role_name(level).to_owned(),
        Holder::User(user) => tx.find_user(user)?.map(|user| user.name).unwrap_or_default(),
        Holder::Group(group) => tx.namespace_names(&[group])?.remove(&group).unwrap_or_default(),
    })
}
