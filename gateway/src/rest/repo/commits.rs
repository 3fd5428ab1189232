//! A project's commits, as they are read.

use entities::repo::{
    commit::{CommitDetailEntity, CommitEntity, CommitRefEntity, SequenceEntity},
    diff::DiffEntity,
    signature::SignatureEntity,
};
use forge::{commit::signatures, pipeline::lookup::shown_pipeline};
use kernel::{Error, Result, Ts};
use repo::{
    commit::{
        CommitFilter, Source,
        read::{self, commit_named, deadline},
    },
    git::{FileDiff, Order, RefKind, TreePath},
    policy::ReadCode,
};

use crate::{
    app::App,
    error::ApiResult,
    extract::{Call, RawText},
    param_enums, params,
    present::{Json, PagedList},
    routes,
};

routes! { "Commits" at "/projects/{id}/repository/commits";
    GET ""                 => list      : ReadCode,
    GET "/{sha}"           => show      : ReadCode also JobToken,
    GET "/{sha}/refs"      => refs      : ReadCode,
    GET "/{sha}/diff"      => diff      : ReadCode,
    GET "/{sha}/sequence"  => sequence  : ReadCode,
    GET "/{sha}/signature" => signature : ReadCode,
}

kernel::text_enum! {
    /// Newest first, or no commit before all that come from it.
    pub enum CommitOrder { Default = "default", Topo = "topo" }
}
kernel::text_enum! {
    /// Which refs are asked for.
    pub enum RefType { Branch = "branch", Tag = "tag", All = "all" }
}
param_enums! { CommitOrder, RefType }

params! {
    pub struct ListCommits: forgiving {
        /// Branch, tag, commit SHA or range `a..b`. Default: the default branch.
        ref_name: Option<RawText>,
        /// Only commits committed at or after this time.
        since: Option<Ts>,
        /// Only commits committed at or before this time.
        until: Option<Ts>,
        /// Only commits that changed this file (renames are followed) or folder.
        path: Option<TreePath>,
        /// Part of the author's name or e-mail address.
        author: Option<String>,
        /// Lists commits of all refs.
        all: bool = false,
        with_stats: bool = false,
        first_parent: bool = false,
        order: CommitOrder = CommitOrder::Default,
        trailers: bool = false,
    }
}

impl ListCommits {
    fn filter(&self) -> Result<CommitFilter> {
        let name = self.ref_name.as_ref().map(|name| name.0.as_str());
        Ok(CommitFilter {
            source: match name.filter(|name| !name.is_empty()) {
                _ if self.all => Source::AllRefs,
                Some(name) => Source::named(name)?,
                None => Source::DefaultBranch,
            },
            path: self.path.clone().filter(|path| !path.is_root()),
            since: self.since,
            until: self.until,
            first_parent: self.first_parent,
            order: match self.order {
                CommitOrder::Default => Order::CommitTime,
                CommitOrder::Topo => Order::Topo,
            },
            author: self.author.clone(),
        })
    }
}

async fn list(app: App, call: Call<ReadCode, ListCommits>) -> ApiResult<PagedList<CommitEntity>> {
    let (grant, page, params) = (call.grant, call.page, call.params);
    let filter = params.filter()?;
    let (answers, url) = (app.answers.clone(), app.urls.at(&grant.facts().full_path));
    let read = app.git_read(grant.project(), move |reader| {
        let commits = read::list(reader, &answers, grant.facts(), &filter, page)?;
        let deadline = deadline();
        commits.try_map_all(|commits| {
            let entities = commits.iter().map(|commit| {
                let mut entity = CommitEntity::new(commit, &url);
                if params.trailers {
                    entity = entity.with_trailers(commit);
                }
                if params.with_stats {
                    entity = entity.with_stats(answers.stats(reader, commit.id, deadline)?);
                }
                Ok(entity)
            });
            entities.collect()
        })
    });
    Ok(PagedList(read.await?))
}

params! {
    pub struct OneCommit {
        /// Full or abbreviated commit SHA, or name of a branch or tag.
        sha: String,
        stats: bool = true,
    }
}

async fn show(app: App, call: Call<ReadCode, OneCommit>) -> ApiResult<Json<CommitDetailEntity>> {
    let (project, params) = (call.grant.project(), call.params);
    let (answers, url) = (app.answers.clone(), app.urls.at(&call.grant.facts().full_path));
    let project_url = url.clone();
    let read = app.git_read(project, move |reader| {
        let commit = reader.commit(commit_named(reader, &params.sha)?)?;
        let mut entity = CommitEntity::new(&commit, &url);
        if params.stats {
            entity = entity.with_stats(answers.stats(reader, commit.id, deadline())?);
        }
        Ok(CommitDetailEntity::new(entity, project))
    });
    let detail = read.await?;
    let (who, sha) = (*call.grant.who(), detail.commit.id.clone());
    let pipeline = app.db.peek(move |tx| shown_pipeline(tx, &who, project, &sha)).await?;
    Ok(Json(detail.with_pipeline(pipeline.as_ref(), &project_url)))
}

params! {
    pub struct RefsOfCommit: paged {
        sha: String,
        r#type: RefType = RefType::All,
    }
}

async fn refs(
    app: App,
    call: Call<ReadCode, RefsOfCommit>,
) -> ApiResult<PagedList<CommitRefEntity>> {
    let (page, params) = (call.page, call.params);
    let kinds: &[RefKind] = match params.r#type {
        RefType::Branch => &[RefKind::Branch],
        RefType::Tag => &[RefKind::Tag],
        RefType::All => &[RefKind::Branch, RefKind::Tag],
    };
    let read = app.git_read(call.grant.project(), move |reader| {
        let id = commit_named(reader, &params.sha)?;
        read::refs_with(reader, id, kinds)
    });
    let names = page.slice(read.await?).without_total(page);
    Ok(PagedList(names.map(|name| CommitRefEntity::from(&name))))
}

params! {
    pub struct DiffOfCommit: paged {
        sha: String,
        /// Whether diffs start with `---` and `+++` lines (unified diff format).
        unidiff: bool = false,
    }
}

async fn diff(app: App, call: Call<ReadCode, DiffOfCommit>) -> ApiResult<PagedList<DiffEntity>> {
    let (page, params) = (call.page, call.params);
    let answers = app.answers.clone();
    let read = app.git_read(call.grant.project(), move |reader| {
        let id = commit_named(reader, &params.sha)?;
        let files = answers.commit_diff(reader, id, deadline())?;
        Ok(page.slice(files.to_vec()))
    });
    let shown: fn(&FileDiff) -> DiffEntity =
        if params.unidiff { DiffEntity::unified } else { |file| DiffEntity::from(file) };
    Ok(PagedList(read.await?.map(|file| shown(&file))))
}

params! {
    pub struct SequenceOfCommit {
        sha: String,
        first_parent: bool = false,
    }
}

async fn sequence(
    app: App,
    call: Call<ReadCode, SequenceOfCommit>,
) -> ApiResult<Json<SequenceEntity>> {
    let (answers, params) = (app.answers.clone(), call.params);
    let read = app.git_read(call.grant.project(), move |reader| {
        let id = commit_named(reader, &params.sha)?;
        Ok(answers.count(reader, id, params.first_parent, deadline())?)
    });
    Ok(Json(SequenceEntity { count: read.await? }))
}

params! {
    pub struct SignatureOfCommit {
        sha: String,
    }
}

async fn signature(
    app: App,
    call: Call<ReadCode, SignatureOfCommit>,
) -> ApiResult<Json<SignatureEntity>> {
    let params = call.params;
    let read = app.git_read(call.grant.project(), move |reader| {
        let id = commit_named(reader, &params.sha)?;
        reader.signature(id)?.ok_or_else(|| Error::not_found("Signature"))
    });
    let verdict = signatures::verdict(&app, read.await?).await?;
    Ok(Json(SignatureEntity::of(&app, verdict).await?))
}
