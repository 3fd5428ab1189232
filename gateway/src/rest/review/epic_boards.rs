//! Boards of the epics of groups, and their lists.

use entities::review::board::{EpicBoardEntity, EpicListEntity};
use kernel::{Error, ids::NamespaceId};
use review::{
    board::{EpicBoards, actions, lists},
    policy::ReadGroupEpics,
};

use super::board_params::{OneBoard, OneBoardList};
use crate::{
    app::App,
    error::ApiResult,
    extract::{Call, params::OnlyPage},
    present::{Json, PagedList},
    routes,
};

routes! { "Epic boards" at "/groups/{id}/epic_boards";
    GET ""                            => list       : ReadGroupEpics,
    GET "/{board_id}"                 => show       : ReadGroupEpics,
    GET "/{board_id}/lists"           => list_lists : ReadGroupEpics,
    GET "/{board_id}/lists/{list_id}" => show_list  : ReadGroupEpics,
}

async fn list(
    app: App,
    call: Call<ReadGroupEpics, OnlyPage>,
) -> ApiResult<PagedList<EpicBoardEntity>> {
    let (grant, page, urls) = (call.grant, call.page, app.urls.clone());
    let found = app.db.read(move |tx| {
        let boards = actions::list::<EpicBoards>(tx, &grant, page)?;
        boards.try_map_all(|boards| EpicBoardEntity::all(tx, &urls, grant.group(), boards))
    });
    Ok(PagedList(found.await?))
}

async fn show(app: App, call: Call<ReadGroupEpics, OneBoard>) -> ApiResult<Json<EpicBoardEntity>> {
    let (grant, id, urls) = (call.grant, call.params.board_id, app.urls.clone());
    let shown = app.db.read(move |tx| {
        let board = actions::read::<EpicBoards>(tx, &grant, id)?;
        let group: NamespaceId = grant.group();
        EpicBoardEntity::all(tx, &urls, group, vec![board])?.pop().ok_or_else(Error::missing)
    });
    Ok(Json(shown.await?))
}

async fn list_lists(
    app: App,
    call: Call<ReadGroupEpics, (OneBoard, OnlyPage)>,
) -> ApiResult<PagedList<EpicListEntity>> {
    let (grant, (one, _), page) = (call.grant, call.params, call.page);
    let found = app.db.read(move |tx| {
        let found = page.slice(lists::list::<EpicBoards>(tx, &grant, one.board_id)?);
        found.try_map_all(|lists| EpicListEntity::all(tx, &lists))
    });
    Ok(PagedList(found.await?))
}

async fn show_list(
    app: App,
    call: Call<ReadGroupEpics, OneBoardList>,
) -> ApiResult<Json<EpicListEntity>> {
    let (grant, one) = (call.grant, call.params);
    let shown = app.db.read(move |tx| {
        let found = lists::find::<EpicBoards>(tx, &grant, one.board_id, one.list_id)?;
        EpicListEntity::all(tx, &[found])?.pop().ok_or_else(Error::missing)
    });
    Ok(Json(shown.await?))
}
