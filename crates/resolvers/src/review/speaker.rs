//! The grant that speaking about an item takes.

use graphql::Failure;
use kernel::{
    Grant,
    ids::{NamespaceId, ProjectId},
};
use review::{
    item::ItemKind,
    policy::{CreateIssues, DiscussEpics, TakePartInMergeRequests},
};

use super::{records::ItemKey, scope};
use crate::context::Context;

/// A grant of whichever ability speaking about an item takes.
pub(super) enum Speaker {
    Issue(Grant<CreateIssues>),
    MergeRequest(Grant<TakePartInMergeRequests>),
    Epic(Grant<DiscussEpics>),
}

pub(super) async fn speaker(context: &Context, key: ItemKey) -> Result<Speaker, Failure> {
    Ok(match key.kind {
        ItemKind::Issue => Speaker::Issue(scope::grant_in(context, ProjectId(key.home)).await?),
        ItemKind::MergeRequest => {
            Speaker::MergeRequest(scope::grant_in(context, ProjectId(key.home)).await?)
        }
        ItemKind::Epic => {
            Speaker::Epic(scope::group_grant_in(context, NamespaceId(key.home)).await?)
        }
    })
}

/// Does something with the grant of a speaker, whatever its ability.
macro_rules! with_grant {
    ($speaker:expr, |$grant:ident| $work:expr) => {
        match $speaker {
            Speaker::Issue($grant) => $work,
            Speaker::MergeRequest($grant) => $work,
            Speaker::Epic($grant) => $work,
        }
    };
}
pub(super) use with_grant;
