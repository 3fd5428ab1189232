//! Making, changing and removing boards of epics, and carrying epics from list to list.

use std::sync::Arc;

use forge::ports::{directory::Directory, review::OrgHierarchy};
use graphql::{Arguments, Failure, Payload, Registry, Value};
use kernel::{Error, Grant};
use review::{
    board::{EpicBoards, actions, lists, moves::move_epic},
    epic::EpicStore as _,
    item::ItemKind,
    policy::{ManageGroupEpics, ReadGroupEpics},
};

use super::{
    list_mutations::{kept_as_it_is, list_payload, listed, new_list},
    mutations::{Answer, board_payload, change_of, named},
    record::{BoardHome, BoardRecord},
};
use crate::{
    context::Context,
    failure::{done, failure_of},
    groups,
    review::{
        epic::{EpicRecord, epic},
        scope::group_grant_in,
    },
};

pub(super) fn register(registry: &mut Registry<Context>) {
    registry.mutation(
        "epicBoardCreate",
        |input, context| async move { create(&context, &input).await },
    );
    registry.mutation(
        "epicBoardUpdate",
        |input, context| async move { update(&context, &input).await },
    );
    registry.mutation("destroyEpicBoard", |input, context| async move {
        remove(&context, &input).await
    });
    registry.mutation("epicBoardListCreate", |input, context| async move {
        create_list(&context, &input).await
    });
    registry.mutation("updateEpicBoardList", |input, context| async move {
        update_list(&context, &input).await
    });
    registry.mutation("epicBoardListDestroy", |input, context| async move {
        remove_list(&context, &input).await
    });
    registry
        .mutation("epicMoveList", |input, context| async move { moved(&context, &input).await });
}

/// The proof that the caller may change the boards of epics where one is.
fn manager(place: &BoardHome) -> Result<Grant<ManageGroupEpics>, Failure> {
    match place {
        BoardHome::Group(group) => group.grant().map_err(failure_of),
        BoardHome::Project(_) => Err(Failure::NotFoundOrForbidden),
    }
}

async fn board(context: &Context, input: &Arguments, name: &str) -> Result<BoardRecord, Failure> {
    named(context, ItemKind::Epic, input.gid(name, &["Boards::EpicBoard"])?).await
}

async fn create(context: &Context, input: &Arguments) -> Answer {
    let place = BoardHome::Group(groups::named(context, &input.text("groupPath")?).await?);
    let (grant, new) = (manager(&place)?, change_of(input)?);
    let made = context
        .forge
        .db
        .write(move |tx| actions::create::<EpicBoards>(tx, &grant, &OrgHierarchy, &new));
    board_payload(context, "epicBoard", &place, made.await).await
}

async fn update(context: &Context, input: &Arguments) -> Answer {
    let one = board(context, input, "id").await?;
    let (grant, change, id) = (manager(&one.place)?, change_of(input)?, one.board().id);
    let changed = context
        .forge
        .db
        .write(move |tx| actions::update::<EpicBoards>(tx, &grant, &OrgHierarchy, id, &change));
    board_payload(context, "epicBoard", &one.place, changed.await).await
}

async fn remove(context: &Context, input: &Arguments) -> Answer {
    let one = board(context, input, "id").await?;
    let (grant, id) = (manager(&one.place)?, one.board().id);
    let removed =
        context.forge.db.write(move |tx| actions::remove::<EpicBoards>(tx, &grant, id, None));
    Ok(match done(removed.await)? {
        Ok(()) => Payload::new().field("epicBoard", Value::Null),
        Err(errors) => Payload::errors(errors),
    })
}

async fn create_list(context: &Context, input: &Arguments) -> Answer {
    let (one, new) = (board(context, input, "boardId").await?, new_list(input)?);
    let (grant, id) = (manager(&one.place)?, one.board().id);
    let made = context
        .forge
        .db
        .write(move |tx| lists::create::<EpicBoards>(tx, &grant, &OrgHierarchy, id, new));
    list_payload(context, &one, made.await).await
}

const LISTS: &[&str] = &["Boards::EpicList"];

async fn update_list(context: &Context, input: &Arguments) -> Answer {
    let id = input.gid("listId", LISTS)?;
    let one = listed(context, ItemKind::Epic, id).await?;
    let board = one.board().id;
    if let Some(wanted) = input.maybe_bool("collapsed") {
        context.signed_in()?;
        let BoardHome::Group(group) = &one.place else { return Err(Failure::NotFoundOrForbidden) };
        let grant: Grant<ReadGroupEpics> = group.grant().map_err(failure_of)?;
        let folded = context
            .forge
            .db
            .write(move |tx| lists::set_collapsed::<EpicBoards>(tx, &grant, board, id, wanted));
        folded.await.map_err(failure_of)?;
    }
    let Some(position) = input.maybe_int("position") else {
        return list_payload(context, &one, kept_as_it_is(&one, id)).await;
    };
    let grant = manager(&one.place)?;
    let moved = context
        .forge
        .db
        .write(move |tx| lists::reorder::<EpicBoards>(tx, &grant, board, id, position));
    list_payload(context, &one, moved.await).await
}

async fn remove_list(context: &Context, input: &Arguments) -> Answer {
    let id = input.gid("listId", LISTS)?;
    let one = listed(context, ItemKind::Epic, id).await?;
    let (grant, board) = (manager(&one.place)?, one.board().id);
    let removed =
        context.forge.db.write(move |tx| lists::remove::<EpicBoards>(tx, &grant, board, id, None));
    Ok(match done(removed.await)? {
        Ok(()) => Payload::new().field("list", Value::Null),
        Err(errors) => Payload::errors(errors),
    })
}

async fn moved(context: &Context, input: &Arguments) -> Answer {
    let one = board(context, input, "boardId").await?;
    let lists = (input.gid("fromListId", LISTS)?, input.gid("toListId", LISTS)?);
    let id = input.gid("epicId", &["Epic"])?;
    let found = context.forge.db.read(move |tx| tx.epics_by_id(&[id])).await.map_err(failure_of)?;
    let row = found.into_iter().next().ok_or(Failure::NotFoundOrForbidden)?;
    let grant: Grant<ManageGroupEpics> = group_grant_in(context, row.namespace_id).await?;
    let (actor, urls) = (context.actor(), context.forge.urls.clone());
    let directory = Directory::new(&context.forge.urls);
    let kept = context.forge.db.write(move |tx| {
        let kept = move_epic(tx, &grant, &directory, &one.whole, &row, lists)?;
        EpicRecord::all(tx, &urls, actor, vec![kept])?.pop().ok_or_else(Error::missing)
    });
    Ok(match done(kept.await)? {
        Ok(kept) => Payload::new().field("epic", epic(Arc::new(kept))),
        Err(errors) => Payload::errors(errors),
    })
}
