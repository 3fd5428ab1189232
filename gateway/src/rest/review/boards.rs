//! Boards of projects and of groups, and their lists. What both have is written once, for either kind of grant.

use entities::review::board::{BoardEntity, BoardListEntity};
use forge::ports::review::OrgHierarchy;
use kernel::{Ability, Grant};
use review::{
    ManageGrant, ReadGrant, ScopedCaller as _,
    board::{
        Boards,
        actions::{self, BoardChange},
        lists,
    },
    policy::{ManageBoards, ManageGroupBoards, ReadBoards, ReadGroupBoards},
};

use super::board_params::{
    ChangeBoard, CreateBoard, CreateBoardList, OneBoard, OneBoardList, ReorderBoardList,
};
use crate::{
    app::App,
    error::ApiResult,
    extract::{Call, params::OnlyPage},
    present::{Created, Json, NoContent, PagedList},
    routes,
};

routes! { "Boards" at "";
    GET    "/projects/{id}/boards"                            => list         : ReadBoards,
    GET    "/projects/{id}/boards/{board_id}"                 => show         : ReadBoards,
    POST   "/projects/{id}/boards"                            => create       : ManageBoards,
    PUT    "/projects/{id}/boards/{board_id}"                 => update       : ManageBoards,
    DELETE "/projects/{id}/boards/{board_id}"                 => remove       : ManageBoards,
    GET    "/projects/{id}/boards/{board_id}/lists"           => list_lists   : ReadBoards,
    GET    "/projects/{id}/boards/{board_id}/lists/{list_id}" => show_list    : ReadBoards,
    POST   "/projects/{id}/boards/{board_id}/lists"           => create_list  : ManageBoards,
    PUT    "/projects/{id}/boards/{board_id}/lists/{list_id}" => reorder_list : ManageBoards,
    DELETE "/projects/{id}/boards/{board_id}/lists/{list_id}" => remove_list  : ManageBoards,
    GET    "/groups/{id}/boards"                              => list         : ReadGroupBoards,
    GET    "/groups/{id}/boards/{board_id}"                   => show         : ReadGroupBoards,
    POST   "/groups/{id}/boards"                              => create       : ManageGroupBoards,
    PUT    "/groups/{id}/boards/{board_id}"                   => update       : ManageGroupBoards,
    DELETE "/groups/{id}/boards/{board_id}"                   => remove       : ManageGroupBoards,
    GET    "/groups/{id}/boards/{board_id}/lists"             => list_lists   : ReadGroupBoards,
    GET    "/groups/{id}/boards/{board_id}/lists/{list_id}"   => show_list    : ReadGroupBoards,
    POST   "/groups/{id}/boards/{board_id}/lists"             => create_list  : ManageGroupBoards,
    PUT    "/groups/{id}/boards/{board_id}/lists/{list_id}"   => reorder_list : ManageGroupBoards,
    DELETE "/groups/{id}/boards/{board_id}/lists/{list_id}"   => remove_list  : ManageGroupBoards,
}

async fn list<A: Ability>(app: App, call: Call<A, OnlyPage>) -> ApiResult<PagedList<BoardEntity>>
where
    Grant<A>: ReadGrant<Boards>,
{
    let (grant, page, urls) = (call.grant, call.page, app.urls.clone());
    let found = app.db.read(move |tx| {
        let boards = actions::list(tx, &grant, page)?;
        let at = (grant.home(), Grant::actor(&grant));
        boards.try_map_all(|boards| BoardEntity::all(tx, &urls, at, boards))
    });
    Ok(PagedList(found.await?))
}

async fn show<A: Ability>(app: App, call: Call<A, OneBoard>) -> ApiResult<Json<BoardEntity>>
where
    Grant<A>: ReadGrant<Boards>,
{
    let (grant, id, urls) = (call.grant, call.params.board_id, app.urls.clone());
    let shown = app.db.read(move |tx| {
        let board = actions::read(tx, &grant, id)?;
        BoardEntity::one(tx, &urls, (board.home(), Grant::actor(&grant)), board)
    });
    Ok(Json(shown.await?))
}

async fn create<A: Ability>(app: App, call: Call<A, CreateBoard>) -> ApiResult<Created<BoardEntity>>
where
    Grant<A>: ManageGrant<Boards>,
{
    let (grant, urls) = (call.grant, app.urls.clone());
    let new = BoardChange { name: Some(call.params.name), ..BoardChange::default() };
    let made = app.db.write(move |tx| {
        let board = actions::create(tx, &grant, &OrgHierarchy, &new)?;
        BoardEntity::one(tx, &urls, (board.home(), Grant::actor(&grant)), board)
    });
    Ok(Created(made.await?))
}

async fn update<A: Ability>(
    app: App,
    call: Call<A, (OneBoard, ChangeBoard)>,
) -> ApiResult<Json<BoardEntity>>
where
    Grant<A>: ManageGrant<Boards>,
{
    let (grant, (one, change), urls) = (call.grant, call.params, app.urls.clone());
    let change = BoardChange::from(change);
    let changed = app.db.write(move |tx| {
        let board = actions::update(tx, &grant, &OrgHierarchy, one.board_id, &change)?;
        BoardEntity::one(tx, &urls, (board.home(), Grant::actor(&grant)), board)
    });
    Ok(Json(changed.await?))
}

async fn remove<A: Ability>(app: App, call: Call<A, OneBoard>) -> ApiResult<NoContent>
where
    Grant<A>: ManageGrant<Boards>,
{
    let (since, grant, id) = (call.unmodified_since(), call.grant, call.params.board_id);
    app.db.write(move |tx| actions::remove(tx, &grant, id, since)).await?;
    Ok(NoContent)
}

async fn list_lists<A: Ability>(
    app: App,
    call: Call<A, (OneBoard, OnlyPage)>,
) -> ApiResult<PagedList<BoardListEntity>>
where
    Grant<A>: ReadGrant<Boards>,
{
    let (grant, (one, _), page, urls) = (call.grant, call.params, call.page, app.urls.clone());
    let found = app.db.read(move |tx| {
        let found = page.slice(lists::list(tx, &grant, one.board_id)?);
        let actor = Grant::actor(&grant);
        found.try_map_all(|lists| BoardListEntity::all(tx, &urls, actor, &lists))
    });
    Ok(PagedList(found.await?))
}

async fn show_list<A: Ability>(
    app: App,
    call: Call<A, OneBoardList>,
) -> ApiResult<Json<BoardListEntity>>
where
    Grant<A>: ReadGrant<Boards>,
{
    let (grant, one, urls) = (call.grant, call.params, app.urls.clone());
    let shown = app.db.read(move |tx| {
        let found = lists::find(tx, &grant, one.board_id, one.list_id)?;
        BoardListEntity::one(tx, &urls, Grant::actor(&grant), &found)
    });
    Ok(Json(shown.await?))
}

async fn create_list<A: Ability>(
    app: App,
    call: Call<A, (OneBoard, CreateBoardList)>,
) -> ApiResult<Created<BoardListEntity>>
where
    Grant<A>: ManageGrant<Boards>,
{
    let (grant, (one, new), urls) = (call.grant, call.params, app.urls.clone());
    let made = app.db.write(move |tx| {
        let made = lists::create(tx, &grant, &OrgHierarchy, one.board_id, new.new_list())?;
        BoardListEntity::one(tx, &urls, Grant::actor(&grant), &made)
    });
    Ok(Created(made.await?))
}

async fn reorder_list<A: Ability>(
    app: App,
    call: Call<A, (OneBoardList, ReorderBoardList)>,
) -> ApiResult<Json<BoardListEntity>>
where
    Grant<A>: ManageGrant<Boards>,
{
    let (grant, (one, to), urls) = (call.grant, call.params, app.urls.clone());
    let moved = app.db.write(move |tx| {
        let moved = lists::reorder(tx, &grant, one.board_id, one.list_id, to.position)?;
        BoardListEntity::one(tx, &urls, Grant::actor(&grant), &moved)
    });
    Ok(Json(moved.await?))
}

async fn remove_list<A: Ability>(app: App, call: Call<A, OneBoardList>) -> ApiResult<NoContent>
where
    Grant<A>: ManageGrant<Boards>,
{
    let (since, grant, one) = (call.unmodified_since(), call.grant, call.params);
    let done = app.db.write(move |tx| lists::remove(tx, &grant, one.board_id, one.list_id, since));
    done.await?;
    Ok(NoContent)
}
