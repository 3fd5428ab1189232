//! Making branches.

use db::Tx;
use kernel::{Ability, Grant, Result, access::Project};
use org::{
    access::{IdOrPath, locate_project},
    user::User,
};
use repo::{
    branch::actions,
    policy::PushCode,
    protection::{self, Protection},
    push_rule,
};

use crate::{Forge, commit::author::signature};

/// Makes a branch at another branch, a tag or a commit; in an empty repository first the branch of its HEAD, with an empty
/// commit. Hands back the permission with what the project has become.
///
/// # Errors
/// `BadRequest` for names that cannot be, starts that are not there, and what protection or push rules forbid.
pub async fn create(
    forge: &Forge,
    grant: &Grant<PushCode>,
    caller: &User,
    name: &str,
    start: &str,
) -> Result<Grant<PushCode>> {
    actions::named(name)?;
    let mut grant = grant.clone();
    let is_empty = grant.facts().default_branch.is_none();
    if is_empty {
        // Before anything is made.
        ensure_name_is_allowed(forge, &grant, name).await?;
        grant = with_first_commit(forge, &grant, caller).await?;
    }
    let protection = protection_of(forge, &grant).await?;
    let (asked, new, start) = (grant.clone(), name.to_owned(), start.to_owned());
    let prepared = forge.git_read(grant.project(), move |reader| {
        actions::creation(reader, &protection, &asked, &new, &start)
    });
    let push = prepared.await?;
    if !is_empty {
        ensure_name_is_allowed(forge, &grant, name).await?;
    }
    forge.push(push).await?;
    Ok(grant)
}

/// The rules of a project's branches, and how the caller stands to them.
pub async fn protection_of<A: Ability<Scope = Project>>(
    forge: &Forge,
    grant: &Grant<A>,
) -> Result<Protection> {
    let (who, project, fork_push_access) =
        (*grant.who(), grant.project(), forge.fork_push_access.clone());
    let load = move |tx: &mut Tx<'_>| {
        let fork_push_branches =
            protection::fork_push_branches(tx, &*fork_push_access, &who, project)?;
        Ok(Protection::of_branches(tx, &who, project)?.with_fork_push_branches(fork_push_branches))
    };
    forge.db.peek(load).await
}

/// Refuses a name that the project's push rule does not allow.
async fn ensure_name_is_allowed(forge: &Forge, grant: &Grant<PushCode>, name: &str) -> Result<()> {
    let (project, name) = (grant.project(), name.to_owned());
    forge.db.peek(move |tx| push_rule::actions::ensure_branch_may_be_made(tx, project, &name)).await
}

/// Makes the default branch of an empty repository. The same permission, with what the project has become.
async fn with_first_commit(
    forge: &Forge,
    grant: &Grant<PushCode>,
    caller: &User,
) -> Result<Grant<PushCode>> {
    let head = forge.git_read(grant.project(), |reader| Ok(reader.head_branch()?)).await?;
    let branch = head.map_or_else(|| "main".to_owned(), |head| head.short().into_owned());
    let repository = forge.storage.repository(grant.project());
    let committer = signature(forge, caller);
    let first = actions::first_commit(&forge.git, &repository, grant, branch, committer).await?;
    forge.push(first).await?;
    let (actor, id) = (grant.actor(), IdOrPath::Id(grant.project().0));
    let (project, who) = forge.db.read(move |tx| locate_project(tx, actor, &id)).await?;
    Grant::check(&who, project)
}
