//! Making, ordering and removing lists of boards.

use forge::ports::review::OrgHierarchy;
use graphql::{Arguments, Failure, Payload, Registry, Value};
use kernel::{
    Grant, Result as Kept, TextEnum as _,
    ids::{LabelId, MilestoneId, UserId},
};
use review::{
    board::{
        BoardList, Boards, LimitMetric, ListKind, ListLimits,
        lists::{self, NewList},
    },
    item::ItemKind,
    policy::{ViewBoards, ViewGroupBoards},
};

use super::{
    mutations::{Answer, BoardManager, as_manager, named},
    record::{BoardHome, BoardRecord, board_of_id, board_of_list},
};
use crate::{
    context::Context,
    failure::{done, failure_of},
};

pub(super) fn register(registry: &mut Registry<Context>) {
    registry.mutation(
        "boardListCreate",
        |input, context| async move { create(&context, &input).await },
    );
    registry.mutation("boardListUpdateLimitMetrics", |input, context| async move {
        limit(&context, &input).await
    });
    registry.mutation(
        "updateBoardList",
        |input, context| async move { update(&context, &input).await },
    );
    registry.mutation("destroyBoardList", |input, context| async move {
        remove(&context, &input).await
    });
}

/// What a new list is for: one of what the input can name.
pub(super) fn new_list(input: &Arguments) -> Result<NewList, Failure> {
    let label = input.maybe_gid("labelId", &["Label", "ProjectLabel", "GroupLabel"])?;
    let assignee = input.maybe_gid("assigneeId", &["User"])?;
    let milestone = input.maybe_gid("milestoneId", &["Milestone"])?;
    let iteration = input.maybe_gid("iterationId", &["Iteration"])?;
    let given = [
        input.flag("backlog").then_some(NewList::Shown(ListKind::Backlog)),
        label.map(|id| NewList::Label(LabelId(id))),
        assignee.map(|id| NewList::Assignee(UserId(id))),
        milestone.map(|id| NewList::Milestone(MilestoneId(id))),
        iteration.map(NewList::Iteration),
    ];
    let given: Vec<NewList> = given.into_iter().flatten().collect();
    match given.as_slice() {
        [one] => Ok(*one),
        _ => Err(Failure::message(
            "one and only one of backlog or labelId or milestoneId or iterationId or assigneeId is required",
        )),
    }
}

/// The payload of what was done with a list.
pub(super) async fn list_payload(
    context: &Context,
    one: &BoardRecord,
    kept: Kept<BoardList>,
) -> Answer {
    let kind = one.board().item_kind;
    match done(kept)? {
        Ok(list) => {
            let board = board_of_id(context, kind, one.board().id).await?;
            let board = board.ok_or(Failure::NotFoundOrForbidden)?;
            let shown = board.whole.list(list.id).map(|list| board.list(list, None));
            Ok(Payload::new().field("list", shown))
        }
        Err(errors) => Ok(Payload::errors(errors)),
    }
}

async fn create(context: &Context, input: &Arguments) -> Answer {
    let new = new_list(input)?;
    let one = named(context, ItemKind::Issue, input.gid("boardId", &["Board"])?).await?;
    let (manager, board) = (BoardManager::of(&one.place)?, one.board().id);
    let made = context.forge.db.write(move |tx| {
        as_manager!(&manager, grant => lists::create(tx, grant, &OrgHierarchy, board, new))
    });
    list_payload(context, &one, made.await).await
}

/// The list that a mutation names, with its board.
///
/// # Errors
/// `NotFoundOrForbidden` where the caller does not see it.
pub(super) async fn listed(
    context: &Context,
    kind: ItemKind,
    id: i64,
) -> Result<BoardRecord, Failure> {
    board_of_list(context, kind, id).await?.ok_or(Failure::NotFoundOrForbidden)
}

async fn limit(context: &Context, input: &Arguments) -> Answer {
    let id = input.gid("listId", &["List"])?;
    let names = ["limitMetric", "maxIssueCount", "maxIssueWeight"];
    if !names.iter().any(|name| input.has(name)) {
        return Err(Failure::message(format!("At least one of {} is required", names.join(", "))));
    }
    let one = listed(context, ItemKind::Issue, id).await?;
    let (manager, board) = (BoardManager::of(&one.place)?, one.board().id);
    let metric = input.maybe_enum("limitMetric");
    let limits = ListLimits {
        max_issue_count: input.maybe_int("maxIssueCount"),
        max_issue_weight: input.maybe_int("maxIssueWeight"),
        limit_metric: input
            .has("limitMetric")
            .then(|| metric.as_deref().and_then(LimitMetric::find)),
    };
    let kept = context.forge.db.write(
        move |tx| as_manager!(&manager, grant => lists::set_limits(tx, grant, board, id, limits)),
    );
    list_payload(context, &one, kept.await).await
}

async fn update(context: &Context, input: &Arguments) -> Answer {
    let id = input.gid("listId", &["List"])?;
    let one = listed(context, ItemKind::Issue, id).await?;
    let board = one.board().id;
    if let Some(wanted) = input.maybe_bool("collapsed") {
        collapse(context, &one, id, wanted).await?;
    }
    let Some(position) = input.maybe_int("position") else {
        return list_payload(context, &one, kept_as_it_is(&one, id)).await;
    };
    let manager = BoardManager::of(&one.place)?;
    let moved = context.forge.db.write(
        move |tx| as_manager!(&manager, grant => lists::reorder(tx, grant, board, id, position)),
    );
    list_payload(context, &one, moved.await).await
}

/// The list without a change that others see.
pub(super) fn kept_as_it_is(one: &BoardRecord, id: i64) -> Kept<BoardList> {
    one.whole.list(id).cloned().ok_or_else(|| kernel::Error::not_found("List"))
}

/// Folds a list for the caller, which everybody may who sees the board.
async fn collapse(
    context: &Context,
    one: &BoardRecord,
    id: i64,
    wanted: bool,
) -> Result<(), Failure> {
    context.signed_in()?;
    let board = one.board().id;
    let done = match &one.place {
        BoardHome::Project(project) => {
            let grant: Grant<ViewBoards> = project.grant().map_err(failure_of)?;
            let work = context
                .forge
                .db
                .write(move |tx| lists::set_collapsed::<Boards>(tx, &grant, board, id, wanted));
            work.await
        }
        BoardHome::Group(group) => {
            let grant: Grant<ViewGroupBoards> = group.grant().map_err(failure_of)?;
            let work = context
                .forge
                .db
                .write(move |tx| lists::set_collapsed::<Boards>(tx, &grant, board, id, wanted));
            work.await
        }
    };
    done.map_err(failure_of)
}

async fn remove(context: &Context, input: &Arguments) -> Answer {
    let id = input.gid("listId", &["List"])?;
    let one = listed(context, ItemKind::Issue, id).await?;
    let (manager, board) = (BoardManager::of(&one.place)?, one.board().id);
    let removed = context
        .forge
        .db
        .write(move |tx| as_manager!(&manager, grant => lists::remove(tx, grant, board, id, None)));
    Ok(match done(removed.await)? {
        Ok(()) => Payload::new().field("list", Value::Null),
        Err(errors) => Payload::errors(errors),
    })
}
