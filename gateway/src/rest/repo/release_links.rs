//! Links of releases: files that lie elsewhere.

use actix_web::{HttpResponse, http::header};
use entities::repo::release_link::ReleaseLinkEntity;
use forge::release::{create_link, ensure_open, remove_link, update_link};
use kernel::{Error, page::Page};
use org::policy::ReadProject;
use percent_encoding::{CONTROLS, utf8_percent_encode};
use repo::{
    policy::PushCode,
    release::{
        actions as releases,
        link::{NewLink, ReleaseLink, ReleaseLinkStore as _, actions},
    },
};

use super::release_params::{LinkOfRelease, LinkedRelease, ListLinks, OneLink, UpdateLink};
use crate::{
    app::App,
    error::ApiResult,
    extract::Call,
    params,
    present::{Created, Custom, Json, PagedList},
    routes,
};

routes! { "Releases" at "/projects/{id}/releases/{tag_name}";
    GET    "/assets/links"                   => list     : ReadProject also JobToken,
    POST   "/assets/links"                   => create   : PushCode also JobToken,
    GET    "/assets/links/{link_id}"         => show     : ReadProject also JobToken,
    PUT    "/assets/links/{link_id}"         => update   : PushCode also JobToken,
    DELETE "/assets/links/{link_id}"         => remove   : PushCode also JobToken,
    GET    "/downloads/{*direct_asset_path}" => download : ReadProject also JobToken,
}

async fn list(
    app: App,
    call: Call<ReadProject, ListLinks>,
) -> ApiResult<PagedList<ReleaseLinkEntity>> {
    let (grant, page, tag) = (call.grant, call.page, call.params.tag_name);
    let url = app.urls.at(&grant.facts().full_path);
    let found = app.db.read(move |tx| {
        ensure_open(tx, grant.project(), grant.who())?;
        let release = releases::find(tx, grant.project(), &tag)?;
        let links = tx.release_links(release.id, page)?;
        Ok((links, release.tag))
    });
    let (links, tag) = found.await?;
    let entity = |link: ReleaseLink| ReleaseLinkEntity::new(&url, &tag, link);
    let items = links.items.into_iter().map(entity).collect();
    Ok(PagedList(Page { items, total: links.total }))
}

async fn show(app: App, call: Call<ReadProject, OneLink>) -> ApiResult<Json<ReleaseLinkEntity>> {
    let (grant, one) = (call.grant, call.params);
    let (url, tag) = (app.urls.at(&grant.facts().full_path), one.tag_name.clone());
    let found = app.db.read(move |tx| {
        ensure_open(tx, grant.project(), grant.who())?;
        let release = releases::find(tx, grant.project(), &one.tag_name)?;
        actions::find(tx, &release, one.link_id)
    });
    Ok(Json(ReleaseLinkEntity::new(&url, &tag, found.await?)))
}

async fn create(
    app: App,
    call: Call<PushCode, (LinkedRelease, LinkOfRelease)>,
) -> ApiResult<Created<ReleaseLinkEntity>> {
    let (grant, (release, new)) = (call.grant, call.params);
    let (url, tag) = (app.urls.at(&grant.facts().full_path), release.tag_name.clone());
    let new = NewLink::from(new);
    let made = app.db.write(move |tx| create_link(tx, &grant, &release.tag_name, new));
    Ok(Created(ReleaseLinkEntity::new(&url, &tag, made.await?)))
}

async fn update(
    app: App,
    call: Call<PushCode, (OneLink, UpdateLink)>,
) -> ApiResult<Json<ReleaseLinkEntity>> {
    let (grant, (one, change)) = (call.grant, call.params);
    let (url, tag) = (app.urls.at(&grant.facts().full_path), one.tag_name.clone());
    let changed =
        app.db.write(move |tx| update_link(tx, &grant, &one.tag_name, one.link_id, change.into()));
    Ok(Json(ReleaseLinkEntity::new(&url, &tag, changed.await?)))
}

async fn remove(app: App, call: Call<PushCode, OneLink>) -> ApiResult<Json<ReleaseLinkEntity>> {
    let (grant, one) = (call.grant, call.params);
    let (url, tag) = (app.urls.at(&grant.facts().full_path), one.tag_name.clone());
    let removed = app.db.write(move |tx| remove_link(tx, &grant, &one.tag_name, one.link_id));
    Ok(Json(ReleaseLinkEntity::new(&url, &tag, removed.await?)))
}

params! {
    struct OneDownload {
        tag_name: String,
        /// Path of a link of the release.
        direct_asset_path: String,
    }
}

/// Redirects to the file of a link.
async fn download(app: App, call: Call<ReadProject, OneDownload>) -> ApiResult<Custom> {
    let (grant, one) = (call.grant, call.params);
    let found = app.db.read(move |tx| {
        ensure_open(tx, grant.project(), grant.who())?;
        let release = releases::find(tx, grant.project(), &one.tag_name)?;
        let path = format!("/{}", one.direct_asset_path.trim_start_matches('/'));
        tx.release_link_at(release.id, &path)
    });
    let link = found.await?.ok_or_else(Error::missing)?;
    Ok(redirect(&link))
}

pub(crate) fn redirect(link: &ReleaseLink) -> Custom {
    let url = utf8_percent_encode(&link.url, CONTROLS).to_string();
    Custom(HttpResponse::Found().insert_header((header::LOCATION, url)).finish())
}
