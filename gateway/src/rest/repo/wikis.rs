//! Wikis of projects and groups. Both kinds have the same calls, which differ in where the wiki lies and in who may what.

use entities::repo::wiki::{WikiAttachmentEntity, WikiListEntity, WikiPageEntity};
use forge::{asset_proxy::with_proxy, files::Upload, references, wiki::remeasure};
use kernel::{Ability, Actor, Error, Grant, Result};
use org::settings::store::SettingsStore as _;
use repo::{
    git::{RefName, Wiki},
    policy::{AdminGroupWiki, AdminWiki, ReadGroupWiki, ReadWiki, WriteGroupWiki, WriteWiki},
    wiki::{Attachment, Page, PageFormat, Site, WikiChange, WikiRequest, WikiResult, find, name},
};

use super::commit_actions::signatures;
use crate::{
    app::App,
    error::ApiResult,
    extract::{Call, Caller, Locate, RawText},
    param_enums, params,
    present::{Created, Json, NoContent},
    routes,
};

routes! { "Wikis" at "";
    GET    "/projects/{id}/wikis"             => project_list   : ReadWiki,
    POST   "/projects/{id}/wikis"             => project_create : WriteWiki,
    POST   "/projects/{id}/wikis/attachments" => project_attach : WriteWiki,
    GET    "/projects/{id}/wikis/{slug}"      => project_show   : ReadWiki,
    PUT    "/projects/{id}/wikis/{slug}"      => project_update : WriteWiki,
    DELETE "/projects/{id}/wikis/{slug}"      => project_delete : AdminWiki,
    GET    "/groups/{id}/wikis"               => group_list     : ReadGroupWiki,
    POST   "/groups/{id}/wikis"               => group_create   : WriteGroupWiki,
    POST   "/groups/{id}/wikis/attachments"   => group_attach   : WriteGroupWiki,
    GET    "/groups/{id}/wikis/{slug}"        => group_show     : ReadGroupWiki,
    PUT    "/groups/{id}/wikis/{slug}"        => group_update   : WriteGroupWiki,
    DELETE "/groups/{id}/wikis/{slug}"        => group_delete   : AdminGroupWiki,
}

param_enums! { PageFormat }

params! {
    pub struct ListPages {
        /// Whether to include the content of each page.
        with_content: bool = false,
    }
}

params! {
    pub struct OnePage {
        /// Path of the page without its extension.
        slug: String,
    }
}

params! {
    pub struct ShowPage {
        slug: String,
        /// Whether to return the content as HTML.
        render_html: bool = false,
        /// Commit SHA of the wiki's repository. Default: the latest.
        version: Option<String>,
    }
}

params! {
    pub struct NewPage {
        /// Path of the page, including folders.
        title: String,
        content: RawText,
        format: PageFormat = PageFormat::Markdown,
    }
}

params! {
    pub struct ChangePage {
        slug: String,
        /// Title. Without a slash the page stays in its folder; a leading slash moves it to the root.
        title: Option<String>,
        content: Option<RawText>,
        format: PageFormat = PageFormat::Markdown,
    } with at_least_one("content", "title");
}

params! {
    pub struct NewAttachment {
        file: Upload,
        /// Branch of the wiki. Default: the wiki's default branch.
        branch: Option<String>,
    }
}

/// A wiki, as those see it who may read it.
struct WikiView {
    wiki: Wiki,
    /// The address of its pages.
    url: String,
    reader: Actor,
    /// What short names in its pages go by.
    names: references::TextContext,
}

impl WikiView {
    fn of_project(app: &App, grant: &Grant<ReadWiki>) -> Self {
        let (id, path) = (grant.project(), &grant.facts().full_path);
        let url = app.urls.at(&format!("{path}/-/wikis"));
        let names = references::TextContext::project(id, path);
        Self { wiki: Wiki::Project(id), url, reader: grant.actor(), names }
    }

    fn of_group(app: &App, grant: &Grant<ReadGroupWiki>) -> Self {
        let (id, path) = (grant.group(), &grant.group_facts().full_path);
        let url = app.urls.at(&format!("groups/{path}/-/wikis"));
        let names = references::TextContext::group(id, path);
        Self { wiki: Wiki::Group(id), url, reader: grant.actor(), names }
    }
}

type ListAnswer = ApiResult<Json<Vec<WikiListEntity>>>;

async fn project_list(app: App, call: Call<ReadWiki, ListPages>) -> ListAnswer {
    list(&app, WikiView::of_project(&app, &call.grant), call.params).await
}

async fn group_list(app: App, call: Call<ReadGroupWiki, ListPages>) -> ListAnswer {
    list(&app, WikiView::of_group(&app, &call.grant), call.params).await
}

async fn list(app: &App, place: WikiView, params: ListPages) -> ListAnswer {
    let read = app.wiki_read(place.wiki, move |reader| {
        let Some(tip) = find::tip(reader)? else { return Ok(Vec::new()) };
        let pages = find::all(reader, tip)?.into_iter();
        if params.with_content {
            let whole = |page: Page| WikiListEntity::Whole(page.into());
            return pages.map(|page| page.read(reader).map(whole)).collect();
        }
        Ok(pages.map(|page| WikiListEntity::Basic(page.into())).collect())
    });
    Ok(Json(read.await?.unwrap_or_default()))
}

type PageAnswer = ApiResult<Json<WikiPageEntity>>;

async fn project_show(app: App, call: Call<ReadWiki, ShowPage>) -> PageAnswer {
    show(&app, WikiView::of_project(&app, &call.grant), call.params).await
}

async fn group_show(app: App, call: Call<ReadGroupWiki, ShowPage>) -> PageAnswer {
    show(&app, WikiView::of_group(&app, &call.grant), call.params).await
}

async fn show(app: &App, place: WikiView, params: ShowPage) -> PageAnswer {
    let WikiView { wiki, url, reader, names } = place;
    let is_html = params.render_html;
    let read = app.wiki_read(wiki, move |reader| {
        let at = match params.version.as_deref().filter(|version| !version.is_empty()) {
            Some(version) => find::version(reader, version)?,
            None => find::tip(reader)?.ok_or_else(find::no_page)?,
        };
        let mut page = find::page(reader, at, &params.slug)?.read(reader)?;
        if params.render_html {
            let links = markup::Links::of_wiki(&url, name::folder_of(&page.file.slug));
            let format = markup::Format::of_ending(page.file.ending());
            page.content = markup::render(&page.content, format, &links);
        }
        Ok(page)
    });
    let mut page = read.await?.ok_or_else(find::no_page)?;
    if is_html {
        let linked = references::linked(app, reader, Some(names), page.content).await?;
        page.content = with_proxy(app, linked);
    }
    Ok(Json(page.into()))
}

type CreateAnswer = ApiResult<Created<WikiPageEntity>>;

async fn project_create(app: App, call: Call<WriteWiki, NewPage>) -> CreateAnswer {
    create(&app, call).await
}

async fn group_create(app: App, call: Call<WriteGroupWiki, NewPage>) -> CreateAnswer {
    create(&app, call).await
}

async fn create<A: WikiWriteAbility>(app: &App, call: Call<A, NewPage>) -> CreateAnswer {
    let NewPage { title, content, format } = call.params;
    let deed = WikiChange::Create { title, format, content: content.0 };
    let written = write(app, &call.grant, &call.caller, deed, None).await?;
    Ok(Created(written.page.ok_or_else(find::no_page)?.into()))
}

async fn project_update(app: App, call: Call<WriteWiki, ChangePage>) -> PageAnswer {
    update(&app, call).await
}

async fn group_update(app: App, call: Call<WriteGroupWiki, ChangePage>) -> PageAnswer {
    update(&app, call).await
}

async fn update<A: WikiWriteAbility>(app: &App, call: Call<A, ChangePage>) -> PageAnswer {
    let ChangePage { slug, title, content, format } = call.params;
    let deed =
        WikiChange::Update { slug, title, format, content: content.map(|content| content.0) };
    let written = write(app, &call.grant, &call.caller, deed, None).await?;
    Ok(Json(written.page.ok_or_else(find::no_page)?.into()))
}

async fn project_delete(app: App, call: Call<AdminWiki, OnePage>) -> ApiResult<NoContent> {
    delete(&app, call).await
}

async fn group_delete(app: App, call: Call<AdminGroupWiki, OnePage>) -> ApiResult<NoContent> {
    delete(&app, call).await
}

async fn delete<A: WikiWriteAbility>(app: &App, call: Call<A, OnePage>) -> ApiResult<NoContent> {
    let deed = WikiChange::Delete { slug: call.params.slug };
    write(app, &call.grant, &call.caller, deed, None).await?;
    Ok(NoContent)
}

type AttachAnswer = ApiResult<Created<WikiAttachmentEntity>>;

async fn project_attach(app: App, call: Call<WriteWiki, NewAttachment>) -> AttachAnswer {
    attach(&app, call).await
}

async fn group_attach(app: App, call: Call<WriteGroupWiki, NewAttachment>) -> AttachAnswer {
    attach(&app, call).await
}

async fn attach<A: WikiWriteAbility>(app: &App, call: Call<A, NewAttachment>) -> AttachAnswer {
    let NewAttachment { file, branch } = call.params;
    let content = tokio::fs::read(file.file.path()).await.map_err(Error::internal)?;
    let file = Attachment::new(&file.file_name, content);
    let branch = branch.filter(|branch| !branch.trim().is_empty());
    let deed = WikiChange::Attach(file.clone());
    let written = write(app, &call.grant, &call.caller, deed, branch).await?;
    Ok(Created(WikiAttachmentEntity::new(file, written.branch)))
}

/// Abilities to change a wiki of one kind.
trait WikiWriteAbility: Ability<Scope: Locate> {
    fn site(grant: &Grant<Self>) -> Result<Site>
    where
        Self: Sized;
}

macro_rules! writes { ($($ability:ident),*) => { $(
    impl WikiWriteAbility for $ability {
        fn site(grant: &Grant<Self>) -> Result<Site> {
            Site::try_from(grant)
        }
    }
)* } }

writes! { WriteWiki, AdminWiki, WriteGroupWiki, AdminGroupWiki }

async fn write<A: WikiWriteAbility>(
    app: &App,
    grant: &Grant<A>,
    caller: &Caller,
    deed: WikiChange,
    branch: Option<String>,
) -> Result<WikiResult> {
    let user = caller.user()?;
    let settings = app.db.peek(|tx| tx.settings()).await?;
    let default_branch = RefName::branch(&settings.default_branch())?;
    let (author, _) = signatures(app, user, None, None);
    let username = user.username.clone();
    let site = A::site(grant)?;
    let most_content = usize::try_from(settings.wiki_page_max_content_bytes).unwrap_or(usize::MAX);
    let asked = WikiRequest { site, deed, username, author, default_branch, most_content, branch };
    let wiki = asked.site.wiki();
    let written = app.wikis().write(asked).await?;
    // The page is there in any case; the care that every write queues weighs the wiki again.
    let moved = written.moved.iter().cloned().collect();
    if let Err(cause) = remeasure(app, wiki, moved).await {
        tracing::warn!(error = %cause, "the size of a wiki is not known yet");
    }
    Ok(written)
}
