//! Approvals of deployments.

use db::Tx;
use forgeway_deployments::{
    approval::{
        Approval, ApprovalStatus,
        actions::{Consequence, Verdict, block, decide, is_missing, state},
    },
    deployment::{Deployment, DeploymentStatus, DeploymentStore as _},
    policy::ReadDeployments,
    protection::Holder,
};
use kernel::{
    AccessLevel::{Developer, Maintainer},
    Error, Result,
    ids::{DeploymentId, JobId, UserId},
};

use crate::world::{World, person, role, test};

fn verdict(status: ApprovalStatus) -> Verdict {
    Verdict { status, comment: None, represented_as: None }
}

fn say(
    tx: &mut Tx<'_>,
    world: &World,
    user: UserId,
    deployment: DeploymentId,
    verdict: &Verdict,
) -> Result<(Approval, Consequence)> {
    let grant = world.may::<ReadDeployments>(user)?;
    let name_of = |_: &mut Tx<'_>, holder: Holder| {
        Ok(match holder {
            Holder::Role(_) => "Maintainers".to_owned(),
            Holder::User(user) => format!("user {user}"),
            Holder::Group(_) => "Group".to_owned(),
        })
    };
    decide(tx, &grant, &world.members, deployment, verdict, name_of)
}

fn approve(
    tx: &mut Tx<'_>,
    world: &World,
    user: UserId,
    deployment: DeploymentId,
) -> Result<(Approval, Consequence)> {
    say(tx, world, user, deployment, &verdict(ApprovalStatus::Approved))
}

/// A deployment of the developer's to production, by a job.
fn blocked(tx: &mut Tx<'_>, world: &World) -> Result<Deployment> {
    let one = world.environment(tx, "production")?;
    let made = world.deployment(tx, one.id, "main", DeploymentStatus::Created)?;
    block(tx, made)
}

fn text(refused: Result<(Approval, Consequence), Error>) -> String {
    refused.map(|(approval, _)| approval.status.to_string()).unwrap_or_else(|text| text.to_string())
}

#[test]
fn refusals_come_in_their_order() {
    test(|tx, world| {
        let made = blocked(tx, world)?;
        let free = approve(tx, world, world.developer, made.id);
        assert_eq!(text(free), "This environment is not protected.");
        let only_deployers = world.protect(tx, "production", vec![role(Developer)], Vec::new())?;
        let own = approve(tx, world, world.developer, made.id);
        assert_eq!(text(own), "You cannot approve your own deployment.");
        let none = approve(tx, world, world.maintainer, made.id);
        assert_eq!(text(none), "Deployment approvals is not configured for this environment.");
        assert!(only_deployers.rules.len() == 1 && !is_missing(tx, &world.members, &made)?);
        Ok(())
    });
}

#[test]
fn who_fits_no_rule_approves_nothing() {
    test(|tx, world| {
        let made = blocked(tx, world)?;
        world.protect(tx, "production", vec![role(Developer)], vec![role(Maintainer)])?;
        let denied = approve(tx, world, world.reporter, made.id);
        assert!(text(denied).starts_with("You don't have permission to approve this deployment."));
        let as_somebody = Verdict {
            represented_as: Some("Nobody".to_owned()),
            ..verdict(ApprovalStatus::Approved)
        };
        let unknown = say(tx, world, world.maintainer, made.id, &as_somebody);
        assert!(text(unknown).starts_with("There are no approval rules for the given"));
        Ok(())
    });
}

#[test]
fn a_rule_lets_somebody_below_developer_approve() {
    test(|tx, world| {
        let made = blocked(tx, world)?;
        world.protect(tx, "production", vec![role(Developer)], vec![person(world.reporter)])?;
        assert!(is_missing(tx, &world.members, &made)?);

        let (approval, _) = approve(tx, world, world.reporter, made.id)?;

        assert_eq!(approval.user_id, world.reporter);
        let after = tx.deployment(world.project, made.id)?.unwrap();
        assert_eq!(after.status, DeploymentStatus::Created);
        let late = approve(tx, world, world.reporter, made.id);
        assert_eq!(text(late), "This deployment is not waiting for approvals.");
        Ok(())
    });
}

#[test]
fn each_person_counts_once_for_a_rule() {
    test(|tx, world| {
        let made = blocked(tx, world)?;
        let mut two = role(Maintainer);
        two.required_approvals = 2;
        world.protect(tx, "production", vec![role(Developer)], vec![two])?;
        let pending = |tx: &mut Tx<'_>| Ok::<_, Error>(state(tx, &world.members, &made)?.pending());
        approve(tx, world, world.maintainer, made.id)?;
        approve(tx, world, world.maintainer, made.id)?;
        assert_eq!(pending(tx)?, 1);

        approve(tx, world, world.other_maintainer, made.id)?;

        assert_eq!(pending(tx)?, 0);
        Ok(())
    });
}

#[test]
fn one_may_reject_what_is_ones_own() {
    test(|tx, world| {
        let made = blocked(tx, world)?;
        world.protect(tx, "production", vec![role(Developer)], vec![role(Developer)])?;
        let rejected = verdict(ApprovalStatus::Rejected);

        let (approval, next) = say(tx, world, world.developer, made.id, &rejected)?;

        assert_eq!((approval.status, next), (ApprovalStatus::Rejected, Consequence::None));
        let after = tx.deployment(world.project, made.id)?.unwrap();
        assert_eq!(after.status, DeploymentStatus::Failed);
        Ok(())
    });
}

#[test]
fn a_job_that_is_rejected_is_to_fail() {
    test(|tx, world| {
        let made = blocked(tx, world)?;
        world.protect(tx, "production", vec![role(Developer)], vec![role(Maintainer)])?;
        let of_job = tx.insert_deployment(&Deployment { job_id: Some(JobId(5)), ..made })?;
        let rejected = verdict(ApprovalStatus::Rejected);
        let (_, next) = say(tx, world, world.maintainer, of_job.id, &rejected)?;
        assert_eq!(next, Consequence::Drop(JobId(5)));
        Ok(())
    });
}

#[test]
fn a_comment_has_its_limit() {
    test(|tx, world| {
        let made = blocked(tx, world)?;
        world.protect(tx, "production", vec![role(Developer)], vec![role(Maintainer)])?;
        let with = |length: usize| Verdict {
            comment: Some("ä".repeat(length)),
            ..verdict(ApprovalStatus::Approved)
        };
        let long = say(tx, world, world.maintainer, made.id, &with(256));
        assert!(text(long).contains("is too long (maximum is 255 characters)"));
        say(tx, world, world.maintainer, made.id, &with(255)).map(drop)
    });
}
