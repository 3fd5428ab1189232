//! A project's branches.

use entities::repo::branch::BranchEntity;
use forge::{
    branch::{self, protection_of},
    commit::author,
    merge_request::approvals::branches_changed,
};
use kernel::{Ability, Grant, Result, access::Project};
use repo::{
    branch::{
        BranchOrder, BranchPage, actions,
        read::{self, branch_named},
    },
    git::Signature,
    name_filter::NameFilter,
    policy::{ProtectRefs, PushCode, ReadCode},
    protection,
};

use crate::{
    app::App,
    error::ApiResult,
    extract::{Call, Caller, NonEmpty},
    param_enums, params,
    present::{Accepted, Created, Either, Json, KeysetList, NoContent, PagedList},
    routes,
};

routes! { "Branches" at "/projects/{id}/repository";
    GET    "/branches"                    => list          : ReadCode also JobToken,
    GET    "/branches/{branch}"           => show          : ReadCode also JobToken,
    HEAD   "/branches/{branch}"           => exists        : ReadCode,
    POST   "/branches"                    => create        : PushCode,
    DELETE "/branches/{branch}"           => delete        : PushCode,
    DELETE "/merged_branches"             => delete_merged : PushCode,
    PUT    "/branches/{branch}/protect"   => protect       : ProtectRefs,
    PUT    "/branches/{branch}/unprotect" => unprotect     : ProtectRefs,
}

kernel::text_enum! {
    /// By name, or by the committer date of the head.
    pub enum BranchSort { Name = "name_asc", Oldest = "updated_asc", Newest = "updated_desc" }
}
param_enums! { BranchSort }

params! {
    pub struct ListBranches: keyset {
        /// Part of the name. `^term` matches the beginning, `term$` the end.
        search: Option<String>,
        /// Regular expression that names must match.
        regex: Option<String>,
        sort: BranchSort = BranchSort::Name,
        /// `keyset` continues after `page_token`.
        pagination: Option<String>,
        /// Last branch of the previous page (keyset pagination).
        page_token: Option<String>,
    }
}

type Branches = Either<PagedList<BranchEntity>, KeysetList<BranchEntity>>;

async fn list(app: App, call: Call<ReadCode, ListBranches>) -> ApiResult<Branches> {
    let (params, page) = (call.params, call.page);
    let filter = NameFilter::new(params.search.as_deref(), params.regex.as_deref())?;
    let is_keyset = params.pagination.as_deref() == Some("keyset");
    let wanted = if is_keyset {
        let count = usize::try_from(page.per_page).unwrap_or(usize::MAX);
        let name = params.page_token.filter(|token| !token.is_empty());
        BranchPage::After { name, count }
    } else {
        BranchPage::Numbered(page)
    };
    let order = match params.sort {
        BranchSort::Name => BranchOrder::Name,
        BranchSort::Oldest => BranchOrder::OldestFirst,
        BranchSort::Newest => BranchOrder::NewestFirst,
    };
    let protection = protection_of(&app, &call.grant).await?;
    let (answers, url) = (app.answers.clone(), app.urls.at(&call.grant.facts().full_path));
    let read = app.git_read(call.grant.project(), move |reader| {
        read::list(reader, &answers, call.grant.facts(), &filter, order, &wanted)
    });
    let branches = read.await?.map(|branch| BranchEntity::new(branch, &protection, &url));
    Ok(match is_keyset {
        false => Either::Left(PagedList(branches)),
        true => {
            Either::Right(KeysetList::of_page(branches, "page_token", |last| last.name.clone()))
        }
    })
}

params! {
    pub struct OneBranch {
        branch: String,
    }
}

async fn show(app: App, call: Call<ReadCode, OneBranch>) -> ApiResult<Json<BranchEntity>> {
    Ok(Json(entity(&app, &call.grant, call.params.branch).await?))
}

async fn entity<A: Ability<Scope = Project>>(
    app: &App,
    grant: &Grant<A>,
    branch: String,
) -> Result<BranchEntity> {
    let protection = protection_of(app, grant).await?;
    let (answers, facts) = (app.answers.clone(), grant.facts().clone());
    let url = app.urls.at(&facts.full_path);
    let read = app.git_read(facts.id, move |reader| {
        read::show(reader, &answers, &facts, &branch_named(&branch)?)
    });
    Ok(BranchEntity::new(read.await?, &protection, &url))
}

async fn exists(app: App, call: Call<ReadCode, OneBranch>) -> ApiResult<NoContent> {
    let branch = call.params.branch;
    let read = app.git_read(call.grant.project(), move |reader| {
        read::existing(reader, &branch_named(&branch)?)
    });
    read.await?;
    Ok(NoContent)
}

params! {
    pub struct CreateBranch {
        branch: NonEmpty,
        /// Branch, tag or commit SHA to start from.
        r#ref: NonEmpty,
    }
}

async fn create(app: App, call: Call<PushCode, CreateBranch>) -> ApiResult<Created<BranchEntity>> {
    let (params, caller) = (call.params, call.caller.user()?);
    let (name, start) = (params.branch.0, params.r#ref.0);
    let grant = branch::create(&app, &call.grant, caller, &name, &start).await?;
    Ok(Created(entity(&app, &grant, name).await?))
}

/// The caller as git notes them, now.
pub(super) fn signature(app: &App, caller: &Caller) -> Result<Signature> {
    Ok(author::signature(app, caller.user()?))
}

async fn delete(app: App, call: Call<PushCode, OneBranch>) -> ApiResult<NoContent> {
    let since = call.unmodified_since();
    let (grant, branch) = (call.grant, call.params.branch);
    let prepared = app
        .git_read(grant.project(), move |reader| actions::deletion(reader, &grant, &branch, since));
    app.push(prepared.await?).await?;
    Ok(NoContent)
}

async fn delete_merged(app: App, call: Call<PushCode>) -> ApiResult<Accepted> {
    let grant = call.grant;
    let (protection, answers) = (protection_of(&app, &grant).await?, app.answers.clone());
    let prepared = app.git_read(grant.project(), move |reader| {
        actions::deletion_of_merged(reader, &answers, &protection, &grant)
    });
    if let Some(push) = prepared.await? {
        app.push(push).await?;
    }
    Ok(Accepted)
}

params! {
    pub struct ProtectOneBranch {
        branch: String,
        developers_can_push: Option<bool>,
        developers_can_merge: Option<bool>,
    }
}

async fn protect(
    app: App,
    call: Call<ProtectRefs, ProtectOneBranch>,
) -> ApiResult<Json<BranchEntity>> {
    let (grant, params) = (call.grant, call.params);
    entity(&app, &grant, params.branch.clone()).await?;
    let (asked, name) = (grant.clone(), params.branch.clone());
    let done = app.db.write(move |tx| {
        let (push, merge) = (params.developers_can_push, params.developers_can_merge);
        protection::branch_presets::protect_for_developers(
            tx,
            &asked,
            &params.branch,
            push,
            merge,
        )?;
        branches_changed(tx, asked.project())
    });
    done.await?;
    Ok(Json(entity(&app, &grant, name).await?))
}

async fn unprotect(app: App, call: Call<ProtectRefs, OneBranch>) -> ApiResult<Json<BranchEntity>> {
    let (grant, name) = (call.grant, call.params.branch);
    entity(&app, &grant, name.clone()).await?;
    let (asked, branch) = (grant.clone(), name.clone());
    let done = app.db.write(move |tx| {
        protection::branch_presets::unprotect_if_protected(tx, &asked, &branch)?;
        branches_changed(tx, asked.project())
    });
    done.await?;
    Ok(Json(entity(&app, &grant, name).await?))
}
