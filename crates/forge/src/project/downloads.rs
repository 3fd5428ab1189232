//! Downloads that a group or the installation counts: clones and fetches by git, and archives.

use kernel::{Actor, Result, ids::ProjectId};
use org::namespace::downloads::{self, Verdict};

use crate::Forge;

/// Notes that somebody downloads a project, where that is counted.
pub async fn note(
    forge: &Forge,
    actor: Actor,
    project: ProjectId,
    full_path: &str,
) -> Result<Verdict> {
    if actor.id.is_none() || actor.admin {
        return Ok(Verdict::Fine);
    }
    let (settings, path) = (forge.settings(), full_path.to_owned());
    let counted = forge.db.peek(move |tx| downloads::are_counted(tx, &settings, &path)).await?;
    if !counted {
        return Ok(Verdict::Fine);
    }
    let path = full_path.to_owned();
    forge.db.write(move |tx| downloads::note(tx, actor, project, &path)).await
}
