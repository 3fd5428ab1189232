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
pub(super) enum CommentGrant {
    Issue(Grant<CreateIssues>),
    MergeRequest(Grant<TakePartInMergeRequests>),
    Epic(Grant<DiscussEpics>),
}

pub(super) async fn comment_grant(
    context: &Context,
    key: ItemKey,
) -> Result<CommentGrant, Failure> {
    Ok(match key.kind {
        ItemKind::Issue => {
            CommentGrant::Issue(scope::grant_in(context, ProjectId(key.home)).await?)
        }
        ItemKind::MergeRequest => {
            CommentGrant::MergeRequest(scope::grant_in(context, ProjectId(key.home)).await?)
        }
        ItemKind::Epic => {
            CommentGrant::Epic(scope::group_grant_in(context, NamespaceId(key.home)).await?)
        }
    })
}

/// Does something with the grant of a speaker, whatever its ability.
macro_rules! with_grant {
    ($speaker:expr, |$grant:ident| $work:expr) => {
        match $speaker {
            CommentGrant::Issue($grant) => $work,
            CommentGrant::MergeRequest($grant) => $work,
            CommentGrant::Epic($grant) => $work,
        }
    };
}
pub(super) use with_grant;
