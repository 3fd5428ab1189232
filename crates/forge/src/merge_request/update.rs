//! Changing merge requests: the one use case behind the REST call, quick actions and push options.

use kernel::{Grant, Result};
use org::user::User;
use review::{
    merge_request::{MergeRequest, actions, change::MergeRequestChange},
    policy::TakePartInMergeRequests,
    quick_action::{DeferredAction, in_description},
};

use super::{create::current, heads::resolve_heads_before, merge};
use crate::{
    Forge,
    ports::directory::Directory,
    quick_actions::{Sender, after_describing},
};

/// Changes a merge request and runs the quick actions of its new description.
///
/// # Errors
/// `NotFound` where there is none of that number; otherwise as [`review::merge_request::change::update`].
pub async fn update_merge_request(
    forge: &Forge,
    grant: &Grant<TakePartInMergeRequests>,
    caller: &User,
    iid: i64,
    change: MergeRequestChange,
) -> Result<MergeRequest> {
    let (row, later) = change_merge_request(forge, grant, iid, change).await?;
    if !later.is_empty() {
        let sender = Sender { grant, caller, seen: None };
        after_describing(forge, &sender, &row.item(), later).await;
    }
    current(forge, &row).await
}

/// As [`update_merge_request`]; the quick actions that have to ask git are handed back instead of being run.
pub async fn change_merge_request(
    forge: &Forge,
    grant: &Grant<TakePartInMergeRequests>,
    iid: i64,
    change: MergeRequestChange,
) -> Result<(MergeRequest, Vec<DeferredAction>)> {
    let asks_git = change.asks_git();
    let looked = match asks_git {
        true => {
            let finding = grant.clone();
            let row = forge.db.read(move |tx| actions::find(tx, &finding, iid)).await?;
            resolve_heads_before(forge, &row, &change).await?
        }
        false => None,
    };
    let (granted, directory) = (grant.clone(), Directory::new(&forge.urls));
    let changed = forge.db.write(move |tx| {
        in_description::update_merge_request(tx, &granted, &directory, iid, looked.as_ref(), change)
    });
    let (row, later) = changed.await?;
    if asks_git {
        merge::resync_with_git(forge, row.id).await?;
    }
    merge::run_pending(forge, row.id).await?;
    Ok((row, later))
}
