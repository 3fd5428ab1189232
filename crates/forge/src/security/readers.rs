//! Permission to read all findings of a project or group: developers there, and auditors anywhere.

use kernel::{AccessLevel::Developer, Actor, Grant, Result, Standing};
use org::access::{IdOrPath, locate_group, locate_project};
use security::{
    policy::{ReadGroupVulnerabilities, ReadVulnerabilities},
    ports::Directory as _,
};

use crate::{Forge, external_authorization::ensure_admitted, ports::security::Directory};

/// The right of somebody to read the vulnerabilities of a project.
///
/// # Errors
/// `NotFound` for a project that is not there, or hidden from them; `Forbidden` where they are neither.
pub async fn of_project(
    forge: &Forge,
    actor: Actor,
    project: IdOrPath,
) -> Result<Grant<ReadVulnerabilities>> {
    let found = forge.db.read(move |tx| {
        let reader = Directory.reader(tx, actor)?;
        let (scope, who) = locate_project(tx, reader, &project)?;
        Grant::check(&as_reader(actor, who), scope)
    });
    let granted: Grant<ReadVulnerabilities> = found.await?;
    ensure_admitted(forge, actor, granted.project()).await?;
    Ok(granted)
}

/// As [`of_project`], for all projects of a group.
///
/// # Errors
/// As [`of_project`].
pub async fn of_group(
    forge: &Forge,
    actor: Actor,
    group: IdOrPath,
) -> Result<Grant<ReadGroupVulnerabilities>> {
    let found = forge.db.read(move |tx| {
        let reader = Directory.reader(tx, actor)?;
        let (scope, who) = locate_group(tx, reader, &group)?;
        Grant::check(&as_reader(actor, who), scope)
    });
    found.await
}

/// Auditors are let in as administrators are, and hold no more than what developers read.
fn as_reader(actor: Actor, who: Standing) -> Standing {
    match who.admin() && !actor.admin {
        true => Standing { actor, level: Developer, ..who },
        false => who,
    }
}
