//! Making, changing and removing boards.

use forge::ports::review::OrgHierarchy;
use graphql::{Arguments, Failure, Payload, Registry, Value};
use kernel::{
    Grant, Result as Kept,
    ids::{LabelId, MilestoneId, UserId},
};
use review::{
    board::{
        Board,
        actions::{self, BoardChange, BoardLabels},
    },
    item::ItemKind,
    policy::{ManageBoards, ManageGroupBoards},
};

use super::record::{BoardHome, BoardRecord, board_of_id};
use crate::{
    context::Context,
    failure::{done, failure_of},
    groups, projects,
    values::{ids, texts},
};

pub(super) type Answer = Result<Payload, Failure>;

/// The proof that somebody may change the boards of a project or a group.
#[derive(Clone)]
pub(super) enum BoardManager {
    Project(Grant<ManageBoards>),
    Group(Grant<ManageGroupBoards>),
}

/// Does the same with either proof.
macro_rules! as_manager {
    ($manager:expr, $grant:ident => $work:expr) => {
        match $manager {
            BoardManager::Project($grant) => $work,
            BoardManager::Group($grant) => $work,
        }
    };
}
pub(super) use as_manager;

impl BoardManager {
    /// # Errors
    /// `NotFoundOrForbidden` for whoever may not.
    pub(super) fn of(place: &BoardHome) -> Result<Self, Failure> {
        match place {
            BoardHome::Project(project) => project.grant().map(Self::Project).map_err(failure_of),
            BoardHome::Group(group) => group.grant().map(Self::Group).map_err(failure_of),
        }
    }
}

pub(super) fn register(registry: &mut Registry<Context>) {
    registry
        .mutation("createBoard", |input, context| async move { create(&context, &input).await });
    registry
        .mutation("updateBoard", |input, context| async move { update(&context, &input).await });
    registry
        .mutation("destroyBoard", |input, context| async move { remove(&context, &input).await });
}

const LABELS: &[&str] = &["Label", "ProjectLabel", "GroupLabel"];

/// What of a board is to change: what is given, be it null.
pub(super) fn change_of(input: &Arguments) -> Result<BoardChange, Failure> {
    let given = |name: &str, classes: &[&str]| -> Result<Option<Option<i64>>, Failure> {
        let id = input.maybe_gid(name, classes)?;
        Ok(input.has(name).then_some(id))
    };
    let labels = match (texts(input, "labels")?, ids(input, "labelIds", LABELS)?) {
        (Some(names), _) => Some(BoardLabels::Named(names)),
        (None, Some(ids)) => Some(BoardLabels::Ids(ids.into_iter().map(LabelId).collect())),
        (None, None) => None,
    };
    let milestone = given("milestoneId", &["Milestone"])?;
    let assignee = given("assigneeId", &["User"])?;
    Ok(BoardChange {
        name: input.maybe_text("name"),
        hide_backlog_list: input.maybe_bool("hideBacklogList"),
        hide_closed_list: input.maybe_bool("hideClosedList"),
        display_colors: input.maybe_bool("displayColors"),
        labels,
        milestone: milestone.map(|id| id.map(MilestoneId)),
        iteration: given("iterationId", &["Iteration"])?,
        iteration_cadence: given("iterationCadenceId", &["Iterations::Cadence"])?,
        assignee: assignee.map(|id| id.map(UserId)),
        weight: input.has("weight").then(|| input.maybe_int("weight")),
    })
}

/// The payload of what was done with a board.
pub(super) async fn board_payload(
    context: &Context,
    name: &'static str,
    place: &BoardHome,
    kept: Kept<Board>,
) -> Answer {
    let board = match done(kept)? {
        Ok(board) => board,
        Err(errors) => return Ok(Payload::errors(errors)),
    };
    let place = place.clone();
    let found = context.forge.db.read(move |tx| BoardRecord::all(tx, &place, vec![board]));
    let found = found.await.map_err(failure_of)?.pop();
    Ok(Payload::new().field(name, found.map(BoardRecord::value)))
}

async fn create(context: &Context, input: &Arguments) -> Answer {
    let place = match (input.maybe_text("projectPath"), input.maybe_text("groupPath")) {
        (Some(path), None) => BoardHome::Project(projects::named(context, &path).await?),
        (None, Some(path)) => BoardHome::Group(groups::named(context, &path).await?),
        _ => return Err(Failure::message("group_path or project_path arguments are required")),
    };
    let (manager, new) = (BoardManager::of(&place)?, change_of(input)?);
    let made = context.forge.db.write(
        move |tx| as_manager!(&manager, grant => actions::create(tx, grant, &OrgHierarchy, &new)),
    );
    board_payload(context, "board", &place, made.await).await
}

/// A board that a mutation names, where the caller sees it.
///
/// # Errors
/// `NotFoundOrForbidden` for any other.
pub(super) async fn named(
    context: &Context,
    kind: ItemKind,
    id: i64,
) -> Result<BoardRecord, Failure> {
    board_of_id(context, kind, id).await?.ok_or(Failure::NotFoundOrForbidden)
}

async fn update(context: &Context, input: &Arguments) -> Answer {
    let one = named(context, ItemKind::Issue, input.gid("id", &["Board"])?).await?;
    let (manager, change) = (BoardManager::of(&one.place)?, change_of(input)?);
    let id = one.board().id;
    let changed = context.forge.db.write(move |tx| {
        as_manager!(&manager, grant => actions::update(tx, grant, &OrgHierarchy, id, &change))
    });
    board_payload(context, "board", &one.place, changed.await).await
}

async fn remove(context: &Context, input: &Arguments) -> Answer {
    let one = named(context, ItemKind::Issue, input.gid("id", &["Board"])?).await?;
    let (manager, id) = (BoardManager::of(&one.place)?, one.board().id);
    let removed = context
        .forge
        .db
        .write(move |tx| as_manager!(&manager, grant => actions::remove(tx, grant, id, None)));
    Ok(match done(removed.await)? {
        Ok(()) => Payload::new().field("board", Value::Null),
        Err(errors) => Payload::errors(errors),
    })
}
