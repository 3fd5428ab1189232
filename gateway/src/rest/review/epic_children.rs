//! Epics inside of epics.

use entities::review::epic::{EpicEntity, EpicView, LinkedEpicEntity};
use forge::ports::{directory::Directory, review::OrgHierarchy};
use review::{
    epic::{actions::EpicChange, children},
    policy::{ManageGroupEpics, ReadGroupEpics},
};

use super::epic_params::{CreateChildEpic, OneChildEpic, OneEpic, ReorderChildEpic};
use crate::{
    app::App,
    error::ApiResult,
    extract::{Call, params::OnlyPage},
    present::{Created, Json, PagedList},
    routes,
};

routes! { "Epics" at "/groups/{id}/epics/{epic_iid}/epics";
    GET    ""                 => list      : ReadGroupEpics,
    POST   ""                 => create    : ManageGroupEpics,
    POST   "/{child_epic_id}" => assign    : ManageGroupEpics,
    PUT    "/{child_epic_id}" => reordered : ManageGroupEpics,
    DELETE "/{child_epic_id}" => remove    : ManageGroupEpics,
}

async fn list(
    app: App,
    call: Call<ReadGroupEpics, (OneEpic, OnlyPage)>,
) -> ApiResult<PagedList<EpicEntity>> {
    let (grant, (one, _), page, urls) = (call.grant, call.params, call.page, app.urls.clone());
    let found = app.db.read(move |tx| {
        let inside = page.slice(children::list(tx, &grant, &OrgHierarchy, one.epic_iid)?);
        let from = Some(grant.group_facts().full_path.clone());
        let view = EpicView { from, ..EpicView::of(grant.actor()) };
        inside.try_map_all(|epics| EpicEntity::all(tx, &urls, epics, &view))
    });
    Ok(PagedList(found.await?))
}

async fn create(
    app: App,
    call: Call<ManageGroupEpics, (OneEpic, CreateChildEpic)>,
) -> ApiResult<Created<LinkedEpicEntity>> {
    let (grant, (one, asked)) = (call.grant, call.params);
    let (directory, urls, iid) = (Directory::new(&app.urls), app.urls.clone(), one.epic_iid);
    let new = EpicChange {
        title: Some(asked.title),
        confidential: asked.confidential,
        ..EpicChange::default()
    };
    let made = app.db.write(move |tx| {
        let made = children::create(tx, &grant, &directory, iid, new)?;
        let of = (grant.group_facts().full_path.as_str(), grant.group(), iid);
        let shown = LinkedEpicEntity::all(tx, &urls, grant.actor(), vec![made], of)?.pop();
        shown.ok_or_else(kernel::Error::missing)
    });
    Ok(Created(made.await?))
}

async fn assign(
    app: App,
    call: Call<ManageGroupEpics, (OneEpic, OneChildEpic)>,
) -> ApiResult<Created<EpicEntity>> {
    let (grant, (one, other)) = (call.grant, call.params);
    let (directory, urls) = (Directory::new(&app.urls), app.urls.clone());
    let put = app.db.write(move |tx| {
        let epic = children::assign(tx, &grant, &directory, one.epic_iid, other.child_epic_id)?;
        EpicEntity::one(tx, &urls, epic, (&grant.group_facts().full_path, grant.actor()))
    });
    Ok(Created(put.await?))
}

async fn reordered(
    app: App,
    call: Call<ManageGroupEpics, (OneEpic, (OneChildEpic, ReorderChildEpic))>,
) -> ApiResult<Json<Vec<LinkedEpicEntity>>> {
    let (grant, (one, (other, asked)), urls) = (call.grant, call.params, app.urls.clone());
    let (iid, between) = (one.epic_iid, (asked.move_before_id, asked.move_after_id));
    let placed = app.db.write(move |tx| {
        let all = children::reorder(tx, &grant, &OrgHierarchy, iid, other.child_epic_id, between)?;
        let of = (grant.group_facts().full_path.as_str(), grant.group(), iid);
        LinkedEpicEntity::all(tx, &urls, grant.actor(), all, of)
    });
    Ok(Json(placed.await?))
}

async fn remove(
    app: App,
    call: Call<ManageGroupEpics, (OneEpic, OneChildEpic)>,
) -> ApiResult<Json<EpicEntity>> {
    let (grant, (one, other)) = (call.grant, call.params);
    let (directory, urls) = (Directory::new(&app.urls), app.urls.clone());
    let left = app.db.write(move |tx| {
        let epic = children::remove(tx, &grant, &directory, one.epic_iid, other.child_epic_id)?;
        EpicEntity::one(tx, &urls, epic, (&grant.group_facts().full_path, grant.actor()))
    });
    Ok(Json(left.await?))
}
