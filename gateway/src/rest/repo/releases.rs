//! Releases of a project.

use std::collections::HashMap;

use forge::{
    commit::author,
    release::{ReleaseDraft, create as create_release, ensure_open},
};
use kernel::{Ability, Grant, Ts, access::Project};
use org::{policy::ReadProject, user::store::UserStore as _};
use repo::{
    git::{CommitInfo, Oid},
    policy::{PushCode, ReadCode},
    release::{Release, ReleaseChange, ReleaseKey, ReleaseOrder, ReleaseStore as _, actions},
};

use super::tags::SortDirection;
use crate::{
    app::App,
    entities::repo::release::{ReleaseEntity, ReleaseView},
    error::ApiResult,
    extract::{Call, Change},
    param_enums, params,
    present::{Created, Json, PagedList},
    routes,
};

routes! { "Releases" at "/projects/{id}/releases";
    GET    ""            => list   : ReadProject also JobToken,
    POST   ""            => create : PushCode also JobToken,
    GET    "/{tag_name}" => show   : ReadProject also JobToken,
    PUT    "/{tag_name}" => update : PushCode also JobToken,
    DELETE "/{tag_name}" => remove : PushCode also JobToken,
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
    }
}

params! {
    pub struct UpdateRelease {
        tag_name: String,
        name: Option<String>,
        description: Change<String>,
        released_at: Option<Ts>,
    }
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
    let items = entities(&app, &grant, found.items).await?;
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
    Ok(Json(entity(&app, &grant, row).await?))
}

async fn create(
    app: App,
    call: Call<PushCode, CreateRelease>,
) -> ApiResult<Created<ReleaseEntity>> {
    let caller = call.caller.user()?;
    let draft = ReleaseDraft {
        tag: call.params.tag_name,
        tag_message: call.params.tag_message,
        from: call.params.r#ref,
        name: call.params.name.filter(|name| !name.is_empty()),
        description: call.params.description,
        released_at: call.params.released_at,
        author: caller.id,
        tagger: author::signature(&app, caller),
    };
    let made = create_release(&app, call.grant.clone(), draft).await?;
    Ok(Created(entity(&app, &call.grant, made).await?))
}

async fn update(app: App, call: Call<PushCode, UpdateRelease>) -> ApiResult<Json<ReleaseEntity>> {
    let (grant, params) = (call.grant, call.params);
    let change = ReleaseChange {
        name: params.name,
        description: params.description.into_update(),
        released_at: params.released_at,
    };
    let asked = grant.clone();
    let changed = app.db.write(move |tx| {
        ensure_open(tx, asked.project(), asked.who())?;
        actions::update(tx, &asked, &params.tag_name, &change)
    });
    let row = changed.await?;
    Ok(Json(entity(&app, &grant, row).await?))
}

async fn remove(app: App, call: Call<PushCode, OneRelease>) -> ApiResult<Json<ReleaseEntity>> {
    let since = call.unmodified_since();
    let (grant, tag) = (call.grant, call.params.tag_name);
    let asked = grant.clone();
    let removed = app.db.write(move |tx| {
        ensure_open(tx, asked.project(), asked.who())?;
        actions::remove(tx, &asked, &tag, since)
    });
    let row = removed.await?;
    Ok(Json(entity(&app, &grant, row).await?))
}

async fn entity<A: Ability<Scope = Project>>(
    app: &App,
    grant: &Grant<A>,
    row: Release,
) -> ApiResult<ReleaseEntity> {
    let mut all = entities(app, grant, vec![row]).await?;
    Ok(all.pop().ok_or(kernel::Error::missing())?)
}

/// The JSON of releases, with who made them and their commits.
async fn entities<A: Ability<Scope = Project>>(
    app: &App,
    grant: &Grant<A>,
    rows: Vec<Release>,
) -> ApiResult<Vec<ReleaseEntity>> {
    let mut people: Vec<_> = rows.iter().filter_map(|row| row.author_id).collect();
    people.sort_unstable();
    people.dedup();
    let authors = app.db.read(move |tx| tx.users_by_id(&people)).await?;
    let has_code = ReadCode::allows(grant.who());
    let commits = match has_code {
        true => commits(app, grant, &rows).await?,
        false => HashMap::new(),
    };
    let full_path = &grant.facts().full_path;
    let view = ReleaseView { urls: &app.urls, full_path, now: app.db.clock().now(), has_code };
    let entity = |row: Release| {
        let author = row.author_id.and_then(|id| authors.get(&id));
        let commit = commits.get(&row.sha);
        ReleaseEntity::new(view, row, author, commit)
    };
    Ok(rows.into_iter().map(entity).collect())
}

/// Those that are still there, by their ids.
async fn commits<A: Ability<Scope = Project>>(
    app: &App,
    grant: &Grant<A>,
    rows: &[Release],
) -> ApiResult<HashMap<String, CommitInfo>> {
    let ids: Vec<Oid> = rows.iter().filter_map(|row| row.sha.parse().ok()).collect();
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let read = app.git_read(grant.project(), move |reader| {
        let mut found = HashMap::new();
        for id in ids {
            if reader.is_commit(id)? {
                found.insert(id.to_string(), reader.commit(id)?);
            }
        }
        Ok(found)
    });
    Ok(read.await?)
}
