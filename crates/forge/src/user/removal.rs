//! Accounts that go. What somebody wrote may be very much: it is handed over a part at a time, so that nobody who writes
//! waits for all of it, and a server that stops in the middle goes on after the next start.

use ci::reassign::{AT_ONCE, reassign_some};
use deployments::deployment::DeploymentStore as _;
use kernel::{Result, ids::UserId};
use org::user::{
    internal::ghost,
    removal::{Removal, RemoveUser, finish},
};
use review::reassign::{parts, reassign_part, reassign_reactions, take_away_some};
use worker::Job;

use crate::{
    Forge,
    archive::import::end_imports_of,
    files::avatars::{Owner, tidy},
};

/// Does now what was asked for: an answer is sent when its effect can be read.
pub async fn remove_now(forge: &Forge, user: UserId) -> Result<()> {
    forge.worker().run_now_and_wait(vec![format!("{}:{user}", RemoveUser::KIND)]).await
}

pub async fn run(forge: &Forge, job: RemoveUser) -> Result<()> {
    let RemoveUser { user, removal, by } = job;
    end_imports_of(forge, user).await?;
    let heir = match removal {
        Removal::Soft => Some(reassign(forge, user).await?),
        Removal::Hard => {
            while forge.db.write(move |tx| take_away_some(tx, user)).await? {}
            None
        }
    };
    while forge.db.write(move |tx| reassign_reactions(tx, user, heir)).await? {}
    while forge.db.write(move |tx| reassign_some(tx, user, heir, AT_ONCE)).await? {}
    while forge.db.write(move |tx| tx.reassign_deployments(user, heir, AT_ONCE)).await? {}
    forge.db.write(move |tx| finish(tx, user, removal, by)).await?;
    tidy(forge, Owner::User(user), None).await
}

async fn reassign(forge: &Forge, user: UserId) -> Result<UserId> {
    let heir = forge.db.write(ghost).await?.id;
    for part in forge.db.read(move |tx| parts(tx, user)).await? {
        forge.db.write(move |tx| reassign_part(tx, &part, user, heir)).await?;
    }
    Ok(heir)
}
