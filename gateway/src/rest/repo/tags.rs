//! A project's tags.

use entities::repo::{signature::SignatureEntity, tag::TagEntity};
use forge::{commit::signatures, release::ensure_open};
use kernel::{Ability, Grant, Result, access::Project, error::Kind};
use repo::{
    name_filter::NameFilter,
    policy::{PushCode, ReadCode},
    protection::Protection,
    release::{Release, ReleaseStore as _},
    tag::{NewTag, Tag, TagKey, TagOrder, TagPage, actions, read},
};

use super::branches::signature as caller_signature;
use crate::{
    app::App,
    error::ApiResult,
    extract::Call,
    param_enums, params,
    present::{Created, Either, Json, KeysetList, NoContent, PagedList},
    routes,
};

routes! { "Tags" at "/projects/{id}/repository/tags";
    GET    ""                      => list      : ReadCode also JobToken,
    GET    "/{tag_name}"           => show      : ReadCode also JobToken,
    GET    "/{tag_name}/signature" => signature : ReadCode,
    POST   ""                      => create    : PushCode,
    DELETE "/{tag_name}"           => delete    : PushCode,
}

kernel::text_enum! {
    /// By when it was made, its name, or the version that the name stands for.
    pub enum TagSortKey { Updated = "updated", Name = "name", Version = "version" }
}
kernel::text_enum! { pub enum SortDirection { Ascending = "asc", Descending = "desc" } }
param_enums! { TagSortKey, SortDirection }

params! {
    pub struct ListTags: keyset {
        /// Part of the name. `^term` matches the beginning, `term$` the end.
        search: Option<String>,
        order_by: TagSortKey = TagSortKey::Updated,
        sort: SortDirection = SortDirection::Descending,
        /// `keyset` continues after `page_token`.
        pagination: Option<String>,
        /// Last tag of the previous page (keyset pagination).
        page_token: Option<String>,
    }
}

impl ListTags {
    fn order(&self) -> TagOrder {
        let key = match self.order_by {
            TagSortKey::Updated => TagKey::Updated,
            TagSortKey::Name => TagKey::Name,
            TagSortKey::Version => TagKey::Version,
        };
        TagOrder { key, ascending: self.sort == SortDirection::Ascending }
    }
}

type Tags = Either<PagedList<TagEntity>, KeysetList<TagEntity>>;

async fn list(app: App, call: Call<ReadCode, ListTags>) -> ApiResult<Tags> {
    let (params, page) = (call.params, call.page);
    let (order, filter) = (params.order(), NameFilter::new(params.search.as_deref(), None)?);
    let token = params.page_token.filter(|token| !token.is_empty());
    let is_keyset = params.pagination.as_deref() == Some("keyset") || token.is_some();
    let wanted = if is_keyset {
        let count = usize::try_from(page.per_page).unwrap_or(usize::MAX);
        TagPage::After { name: token, count }
    } else {
        TagPage::Numbered(page)
    };
    let protection = protection_of(&app, &call.grant).await?;
    let (answers, url) = (app.answers.clone(), app.urls.at(&call.grant.facts().full_path));
    let read = app.git_read(call.grant.project(), move |reader| {
        read::list(reader, &answers, &filter, order, &wanted)
    });
    let found = read.await?;
    let releases = releases_of(&app, &call.grant, &found.items).await?;
    let entity = |tag: Tag| {
        let release = releases.iter().find(|release| release.tag == tag.name);
        TagEntity::new(tag, release, &protection, &url)
    };
    let tags = found.map(entity);
    Ok(match is_keyset {
        false => Either::Left(PagedList(tags)),
        true => Either::Right(KeysetList::of_page(tags, "page_token", |last| last.name.clone())),
    })
}

/// The rules of the project's tags, and how the caller stands to them.
async fn protection_of<A: Ability<Scope = Project>>(
    app: &App,
    grant: &Grant<A>,
) -> Result<Protection> {
    let (who, project) = (*grant.who(), grant.project());
    app.db.peek(move |tx| Protection::of_tags(tx, &who, project)).await
}

params! {
    pub struct OneTag {
        tag_name: String,
    }
}

async fn show(app: App, call: Call<ReadCode, OneTag>) -> ApiResult<Json<TagEntity>> {
    Ok(Json(entity(&app, &call.grant, call.params.tag_name).await?))
}

async fn entity<A: Ability<Scope = Project>>(
    app: &App,
    grant: &Grant<A>,
    name: String,
) -> Result<TagEntity> {
    let protection = protection_of(app, grant).await?;
    let tag = app.git_read(grant.project(), move |reader| read::show(reader, &name)).await?;
    let releases = releases_of(app, grant, std::slice::from_ref(&tag)).await?;
    let url = app.urls.at(&grant.facts().full_path);
    Ok(TagEntity::new(tag, releases.first(), &protection, &url))
}

/// The releases of some tags, where the caller may know of them.
async fn releases_of<A: Ability<Scope = Project>>(
    app: &App,
    grant: &Grant<A>,
    tags: &[Tag],
) -> Result<Vec<Release>> {
    let (project, who) = (grant.project(), *grant.who());
    let names: Vec<String> = tags.iter().map(|tag| tag.name.clone()).collect();
    let found = app.db.peek(move |tx| match ensure_open(tx, project, &who) {
        Err(closed) if closed.kind == Kind::Forbidden => Ok(Vec::new()),
        open => open.and_then(|()| tx.releases_of_tags(project, &names)),
    });
    found.await
}

async fn signature(app: App, call: Call<ReadCode, OneTag>) -> ApiResult<Json<SignatureEntity>> {
    let name = call.params.tag_name;
    let read = app.git_read(call.grant.project(), move |reader| read::signature(reader, &name));
    let verdict = signatures::verdict(&app, read.await?).await?;
    Ok(Json(SignatureEntity::of(&app, verdict).await?))
}

params! {
    pub struct CreateTag {
        tag_name: String,
        /// Branch, tag or commit SHA to tag.
        r#ref: String,
        /// Message; creates an annotated tag.
        message: Option<String>,
    }
}

async fn create(app: App, call: Call<PushCode, CreateTag>) -> ApiResult<Created<TagEntity>> {
    let tagger = caller_signature(&app, &call.caller)?;
    let (grant, CreateTag { tag_name, r#ref, message }) = (call.grant, call.params);
    let new = NewTag { name: tag_name.clone(), from: r#ref, message, tagger };
    let checked = app.git_read(grant.project(), move |reader| actions::check(reader, new)).await?;
    let repository = app.storage.repository(grant.project());
    let push = actions::creation(&app.git, &repository, &grant, checked).await?;
    app.push(push).await?;
    Ok(Created(entity(&app, &grant, tag_name).await?))
}

async fn delete(app: App, call: Call<PushCode, OneTag>) -> ApiResult<NoContent> {
    let since = call.unmodified_since();
    let (grant, name) = (call.grant, call.params.tag_name);
    let prepared = app
        .git_read(grant.project(), move |reader| actions::deletion(reader, &grant, &name, since));
    app.push(prepared.await?).await?;
    Ok(NoContent)
}
