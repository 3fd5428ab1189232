//! Deployments.

use admin::flags::Flag;
use db::Tx;
use deployments::{
    deployment::{DeploymentStatus, DeploymentStore as _},
    environment::EnvironmentStore as _,
};
use kernel::Result;

use crate::{
    integration::EventTraits,
    webhook::{
        announcer::{Announcer, News},
        gaps::Gaps,
        payload,
    },
};

pub(super) fn on_event(tx: &mut Tx<'_>, by: &Announcer, fact: &deployments::Event) -> Result<()> {
    let deployments::Event::DeploymentChanged { project, environment, deployment, status } = fact
    else {
        return Ok(());
    };
    let is_told = matches!(
        status,
        DeploymentStatus::Running
            | DeploymentStatus::Success
            | DeploymentStatus::Failed
            | DeploymentStatus::Canceled
    );
    if !is_told {
        return Ok(());
    }
    let flags = [Flag::Deployments];
    let Some((context, audience)) = by.place(tx, *project, &flags)? else { return Ok(()) };
    let Some(row) = tx.deployment(*project, *deployment)? else { return Ok(()) };
    let Some(environment) = tx.environments_by_id(&[*environment])?.pop() else { return Ok(()) };
    let news = News {
        flag: Flag::Deployments,
        header: "Deployment Hook",
        project: Some(*project),
        object: format!("deployment/{deployment}"),
        payload: payload::deployment::deployment(tx, &context, &row, &environment)?,
        gaps: Some(Gaps::deployment(*project, &row.sha)),
    };
    by.tell(tx, &audience, news, &EventTraits::default())
}
