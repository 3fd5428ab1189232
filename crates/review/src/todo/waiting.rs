//! How much waits for somebody.

use db::{
    Tx, each_backend, error,
    schema::{
        issues, item_assignees as assignees, merge_request_reviewers as reviewers, merge_requests,
    },
};
use diesel::prelude::*;
use kernel::{
    Actor, Result,
    page::{PageRequest, Total},
};

use super::actions::{TodoFilter, list};
use crate::{issue::IssueState, item::ItemKind, merge_request::MergeRequestState, ports::Forge};

/// Open things that are given to somebody, and what they are asked.
#[derive(Clone, Copy, Debug, Default)]
pub struct Waiting {
    pub issues: i64,
    pub merge_requests: i64,
    pub reviews: i64,
    pub todos: i64,
}

pub fn waiting(tx: &mut Tx<'_>, forge: &impl Forge, actor: Actor) -> Result<Waiting> {
    let user = actor.user()?;
    let given = |kind: ItemKind| {
        assignees::table
            .filter(assignees::user_id.eq(user).and(assignees::item_kind.eq(kind)))
            .select(assignees::item_id)
    };
    let open = issues::table
        .filter(issues::id.eq_any(given(ItemKind::Issue)))
        .filter(issues::state.eq(IssueState::Opened))
        .count();
    let issues = each_backend!(tx, |conn| open.get_result(conn).map_err(error("Issue")))?;
    let open = merge_requests::table
        .filter(merge_requests::id.eq_any(given(ItemKind::MergeRequest)))
        .filter(merge_requests::state.eq(MergeRequestState::Opened))
        .count();
    let merge_requests =
        each_backend!(tx, |conn| open.get_result(conn).map_err(error("Merge request")))?;
    let asked =
        reviewers::table.filter(reviewers::user_id.eq(user)).select(reviewers::merge_request_id);
    let open = merge_requests::table
        .filter(merge_requests::id.eq_any(asked))
        .filter(merge_requests::state.eq(MergeRequestState::Opened))
        .count();
    let reviews = each_backend!(tx, |conn| open.get_result(conn).map_err(error("Merge request")))?;
    let one = PageRequest { page: 1, per_page: 1 };
    let todos = match list(tx, forge, actor, &TodoFilter::default(), one)?.total {
        Total::Counted(total) => total,
        Total::Uncounted { .. } => 0,
    };
    Ok(Waiting { issues, merge_requests, reviews, todos })
}
