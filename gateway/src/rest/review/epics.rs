//! Epics of groups: what issues of several projects work towards.

use entities::review::epic::{EpicEntity, EpicView};
use forge::ports::{directory::Directory, review::OrgHierarchy};
use review::{
    epic::{actions, list},
    item::{reading, subscriptions::set_subscription},
    policy::{DeleteGroupEpics, DiscussEpics, ManageGroupEpics, ReadGroupEpics},
};

use super::epic_params::{ChangeEpic, CreateEpic, ListEpics, OneEpic};
use crate::{
    app::App,
    error::ApiResult,
    extract::Call,
    present::{Created, Json, NoContent, PagedList},
    routes,
};

routes! { "Epics" at "/groups/{id}/epics";
    GET    ""            => all    : ReadGroupEpics,
    GET    "/{epic_iid}" => show   : ReadGroupEpics,
    POST   ""            => create : ManageGroupEpics,
    PUT    "/{epic_iid}" => update : ManageGroupEpics,
    DELETE "/{epic_iid}" => remove : DeleteGroupEpics,
    POST   "/{epic_iid}/subscribe"   => subscribe   : DiscussEpics,
    POST   "/{epic_iid}/unsubscribe" => unsubscribe : DiscussEpics,
}

async fn all(app: App, call: Call<ReadGroupEpics, ListEpics>) -> ApiResult<PagedList<EpicEntity>> {
    let (grant, params, page, urls) = (call.grant, call.params, call.page, app.urls.clone());
    let found = app.db.read(move |tx| {
        let sorting = params.sorting();
        let with_labels_details = params.with_labels_details;
        let filter = params.filter(tx)?;
        let found = list::list(tx, &grant, &OrgHierarchy, &filter, sorting, page)?;
        let from = Some(grant.group_facts().full_path.clone());
        let view = EpicView { from, with_labels_details, reader: grant.actor() };
        found.try_map_all(|epics| EpicEntity::all(tx, &urls, epics, &view))
    });
    Ok(PagedList(found.await?))
}

async fn show(app: App, call: Call<ReadGroupEpics, OneEpic>) -> ApiResult<Json<EpicEntity>> {
    let (grant, iid, urls) = (call.grant, call.params.epic_iid, app.urls.clone());
    let shown = app.db.read(move |tx| {
        let epic = actions::read(tx, &grant, iid)?;
        EpicEntity::one(tx, &urls, epic, (&grant.group_facts().full_path, grant.actor()))
    });
    Ok(Json(shown.await?))
}

async fn create(
    app: App,
    call: Call<ManageGroupEpics, CreateEpic>,
) -> ApiResult<Created<EpicEntity>> {
    let (grant, new, urls) = (call.grant, call.params.into(), app.urls.clone());
    let directory = Directory::new(&app.urls);
    let made = app.db.write(move |tx| {
        let epic = actions::create(tx, &grant, &directory, new)?;
        EpicEntity::one(tx, &urls, epic, (&grant.group_facts().full_path, grant.actor()))
    });
    Ok(Created(made.await?))
}

async fn update(
    app: App,
    call: Call<ManageGroupEpics, (OneEpic, ChangeEpic)>,
) -> ApiResult<Json<EpicEntity>> {
    let (grant, (one, change), urls) = (call.grant, call.params, app.urls.clone());
    let directory = Directory::new(&app.urls);
    let changed = app.db.write(move |tx| {
        let epic = actions::update(tx, &grant, &directory, one.epic_iid, change.into())?;
        EpicEntity::one(tx, &urls, epic, (&grant.group_facts().full_path, grant.actor()))
    });
    Ok(Json(changed.await?))
}

async fn remove(app: App, call: Call<DeleteGroupEpics, OneEpic>) -> ApiResult<NoContent> {
    let (since, iid) = (call.unmodified_since(), call.params.epic_iid);
    app.db.write(move |tx| actions::remove(tx, &call.grant, iid, since)).await?;
    Ok(NoContent)
}

async fn subscribe(app: App, call: Call<DiscussEpics, OneEpic>) -> ApiResult<Created<EpicEntity>> {
    subscription(app, call, true).await
}

async fn unsubscribe(
    app: App,
    call: Call<DiscussEpics, OneEpic>,
) -> ApiResult<Created<EpicEntity>> {
    subscription(app, call, false).await
}

async fn subscription(
    app: App,
    call: Call<DiscussEpics, OneEpic>,
    wanted: bool,
) -> ApiResult<Created<EpicEntity>> {
    let (grant, iid, urls) = (call.grant, call.params.epic_iid, app.urls.clone());
    let set = app.db.write(move |tx| {
        let item = reading::read(tx, &grant, iid)?;
        set_subscription(tx, &item, grant.user()?, wanted)?;
        let epic = actions::of_item(tx, &item)?;
        EpicEntity::one(tx, &urls, epic, (&grant.group_facts().full_path, grant.actor()))
    });
    Ok(Created(set.await?))
}
