//! Bridges that take the status of a pipeline of another project: the newest of its default branch.

use ci::{
    bridge::mirror,
    job::{End, progress},
    pipeline::{Pipeline, PipelineStore as _, actions::is_shown},
    policy::ReadPipelines,
};
use db::Tx;
use kernel::{Ability as _, Result};
use org::access::IdOrPath;

use super::bridge::{Bridge, is_done, with_variables};
use crate::{
    Forge,
    external_authorization::is_admitted,
    ports::ci::Projects,
    user::standing::{PersonInProject, person_in_project},
};

const NO_PROJECT: &str = "upstream_bridge_project_not_found";
const NO_RIGHT: &str = "insufficient_upstream_permissions";

/// Lets a bridge that waits follow its pipeline, or says on the bridge why it cannot. Where there is no pipeline yet, it
/// waits, and fails with the others that waited for too long.
pub(super) async fn mirror_upstream(forge: &Forge, bridge: &Bridge) -> Result<()> {
    let id = bridge.job.id;
    let path = match with_variables(forge, bridge).await? {
        Some(bridge) => bridge.upstream_project().map(|path| bridge.written_out(path)),
        None => None,
    };
    let path = match path {
        Some(path) if is_closed(forge, bridge, &path).await? => {
            let ended = forge.db.write(move |tx| match is_done(tx, id)? {
                true => Ok(()),
                false => progress::finish(tx, id, End::failed(NO_PROJECT)).map(drop),
            });
            return ended.await;
        }
        path => path,
    };
    let bridge = bridge.clone();
    let moved = forge.db.write(move |tx| {
        if is_done(tx, id)? {
            return Ok(());
        }
        match upstream(tx, &bridge, path.as_deref())? {
            Ok(Some(pipeline)) => mirror(tx, id, pipeline.id),
            Ok(None) => Ok(()),
            Err(reason) => progress::finish(tx, id, End::failed(reason)).map(drop),
        }
    });
    moved.await
}

/// Whether a service of the administrators keeps the person of a bridge out of the other project.
async fn is_closed(forge: &Forge, bridge: &Bridge, path: &str) -> Result<bool> {
    let Some(user) = bridge.job.user_id else { return Ok(false) };
    let named = IdOrPath::Path(path.to_owned());
    let found = forge.db.read(move |tx| person_in_project(tx, user, &named)).await?;
    let Some(PersonInProject { facts, who, .. }) = found else { return Ok(false) };
    Ok(!is_admitted(forge, who.actor, facts.id).await?)
}

/// The pipeline that a bridge follows, or the reason of its failure.
fn upstream(
    tx: &mut Tx<'_>,
    bridge: &Bridge,
    path: Option<&str>,
) -> Result<std::result::Result<Option<Pipeline>, &'static str>> {
    let (Some(path), Some(user)) = (path, bridge.job.user_id) else { return Ok(Err(NO_RIGHT)) };
    let person = person_in_project(tx, user, &IdOrPath::Path(path.to_owned()))?;
    let Some(PersonInProject { facts, who, .. }) = person else { return Ok(Err(NO_PROJECT)) };
    if !ReadPipelines::allows(&who) || !is_shown(tx, &Projects, &who, facts.id)? {
        return Ok(Err(NO_RIGHT));
    }
    match &facts.default_branch {
        Some(branch) => tx.newest_of_branch(facts.id, branch).map(Ok),
        None => Ok(Ok(None)),
    }
}
