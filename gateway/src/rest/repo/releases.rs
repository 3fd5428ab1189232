//! Releases of a project.

use entities::repo::{
    release::ReleaseEntity,
    release_records::{record, record_of, records},
};
use forge::{
    commit::author,
    release::{
        MilestoneNames, ReleaseDraft, create as create_release, ensure_open, latest as newest,
    },
};
use kernel::{Ts, ids::MilestoneId};
use org::policy::ReadProject;
use repo::{
    policy::PushCode,
    release::{ReleaseChange, ReleaseKey, ReleaseOrder, ReleaseStore as _, actions, link::NewLink},
};

use super::{
    release_params::{Assets, LinkOfRelease},
    tags::SortDirection,
};
use crate::{
    app::App,
    error::ApiResult,
    extract::{Call, Change, Csv},
    param_enums, params,
    present::{Created, Json, PagedList},
    routes,
};

routes! { "Releases" at "/projects/{id}/releases";
    GET    ""                  => list   : ReadProject also JobToken,
    POST   ""                  => create : PushCode also JobToken,
    GET    "/permalink/latest" => latest : ReadProject also JobToken,
    GET    "/{tag_name}"       => show   : ReadProject also JobToken,
    PUT    "/{tag_name}"       => update : PushCode also JobToken,
    DELETE "/{tag_name}"       => remove : PushCode also JobToken,
}

kernel::text_enum! {
    /// By when it was released, or made.
    pub enum ReleaseSortKey { Released = "released_at", Created = "created_at" }
}
param_enums! { ReleaseSortKey }

params! {
    pub struct ListReleases: paged {
        order_by: ReleaseSortKey = ReleaseSortKey::Released,
        sort: SortDirection = SortDirection::Descending,
    }
}

params! {
    pub struct OneRelease {
        tag_name: String,
    }
}

params! {
    pub struct CreateRelease {
        tag_name: String,
        /// Message of the tag that is created with the release.
        tag_message: Option<String>,
        /// Branch, tag or commit SHA to tag. Required when the tag does not exist.
        r#ref: Option<String>,
        /// Default: the name of the tag.
        name: Option<String>,
        description: Option<String>,
        /// Time of the release. Default: now.
        released_at: Option<Ts>,
        /// Titles of milestones of the project and of the groups above it.
        milestones: Option<Csv<String>>,
        /// IDs of such milestones.
        milestone_ids: Option<Csv<MilestoneId>>,
        assets: Option<Assets>,
    } with exclusive("milestones", "milestone_ids");
}

params! {
    pub struct UpdateRelease {
        tag_name: String,
        /// A blank one stands for the name of the tag.
        name: Option<String>,
        description: Change<String>,
        released_at: Option<Ts>,
        /// Titles of all milestones that the release is to have. An empty list removes all.
        milestones: Option<Csv<String>>,
        /// IDs of all milestones that the release is to have.
        milestone_ids: Option<Csv<MilestoneId>>,
    } with exclusive("milestones", "milestone_ids");
}

/// The milestones that one of the two parameters names.
fn milestone_names(
    titles: Option<Csv<String>>,
    ids: Option<Csv<MilestoneId>>,
) -> Option<MilestoneNames> {
    let titles = titles.map(|titles| MilestoneNames::Titles(titles.0));
    titles.or_else(|| ids.map(|ids| MilestoneNames::Ids(ids.0)))
}

async fn list(
    app: App,
    call: Call<ReadProject, ListReleases>,
) -> ApiResult<PagedList<ReleaseEntity>> {
    let (grant, page, params) = (call.grant, call.page, call.params);
    let key = match params.order_by {
        ReleaseSortKey::Released => ReleaseKey::Released,
        ReleaseSortKey::Created => ReleaseKey::Created,
    };
    let order = ReleaseOrder { key, ascending: params.sort == SortDirection::Ascending };
    let asked = grant.clone();
    let found = app.db.read(move |tx| {
        ensure_open(tx, asked.project(), asked.who())?;
        tx.releases(asked.project(), order, page)
    });
    let found = found.await?;
    let total = found.total;
    let items = records(&app, &grant, found.items).await?;
    Ok(PagedList(kernel::page::Page { items, total }))
}

async fn show(app: App, call: Call<ReadProject, OneRelease>) -> ApiResult<Json<ReleaseEntity>> {
    let (grant, tag) = (call.grant, call.params.tag_name);
    let asked = grant.clone();
    let found = app.db.read(move |tx| {
        ensure_open(tx, asked.project(), asked.who())?;
        actions::find(tx, asked.project(), &tag)
    });
    let row = found.await?;
    Ok(Json(record(&app, &grant, row).await?))
}

params! {
    struct LatestRelease {}
}

/// The release with the newest time.
async fn latest(
    app: App,
    call: Call<ReadProject, LatestRelease>,
) -> ApiResult<Json<ReleaseEntity>> {
    let asked = call.grant.clone();
    let found = app.db.read(move |tx| newest(tx, asked.project(), asked.who()));
    Ok(Json(record(&app, &call.grant, found.await?).await?))
}

async fn create(
    app: App,
    call: Call<PushCode, CreateRelease>,
) -> ApiResult<Created<ReleaseEntity>> {
    let caller = call.caller.user()?;
    let links = call.params.assets.and_then(|assets| assets.links).unwrap_or_default();
    let draft = ReleaseDraft {
        links: links.into_iter().map(LinkOfRelease::into).collect::<Vec<NewLink>>(),
        milestones: milestone_names(call.params.milestones, call.params.milestone_ids)
            .unwrap_or_default(),
        tag: call.params.tag_name,
        tag_message: call.params.tag_message,
        from: call.params.r#ref,
        name: call.params.name,
        description: call.params.description,
        released_at: call.params.released_at,
        author: caller.id,
        tagger: author::signature(&app, caller),
    };
    let made = create_release(&app, call.grant.clone(), draft).await?;
    Ok(Created(record(&app, &call.grant, made).await?))
}

async fn update(app: App, call: Call<PushCode, UpdateRelease>) -> ApiResult<Json<ReleaseEntity>> {
    let (grant, params) = (call.grant, call.params);
    let change = ReleaseChange {
        name: params.name,
        description: params.description.into_update(),
        released_at: params.released_at,
        milestones: None,
    };
    let milestones = milestone_names(params.milestones, params.milestone_ids);
    let (asked, tag) = (grant.clone(), params.tag_name);
    let changed = app
        .db
        .write(move |tx| forge::release::update(tx, &asked, &tag, change, milestones.as_ref()));
    let row = changed.await?;
    Ok(Json(record(&app, &grant, row).await?))
}

async fn remove(app: App, call: Call<PushCode, OneRelease>) -> ApiResult<Json<ReleaseEntity>> {
    let since = call.unmodified_since();
    let (grant, tag) = (call.grant, call.params.tag_name);
    let asked = grant.clone();
    let removed = app.db.write(move |tx| forge::release::remove(tx, &asked, &tag, since));
    let (row, parts) = removed.await?;
    Ok(Json(record_of(&app, &grant, row, parts).await?))
}
