//! A commit's files as one file to download.

use actix_web::{HttpResponse, http::header};
use forge::{memory, project::downloads};
use kernel::{Error, Grant, Result};
use org::{
    access::{IdOrPath, locate_project},
    namespace::downloads::Verdict,
    user::store::UserStore as _,
};
use repo::{
    commit::read::{default_head, find_commit},
    git::{
        GitError, Oid, TreePath,
        archive::{Archive, ArchiveFormat, archive as start},
    },
    policy::ReadCode,
};

use crate::{
    app::App,
    error::ApiResult,
    extract::{Call, Param, ParamErrors, PathBytes, Raw, ensure_may_sign_in, params::NOT_LISTED},
    large_files, params,
    present::{Custom, head_alone},
    routes,
};

routes! { "Archives" at "/projects/{id}/repository";
    GET "/archive"         => archive : ReadCode,
    GET "/archive.zip"     => archive : ReadCode,
    GET "/archive.tar"     => archive : ReadCode,
    GET "/archive.tar.gz"  => archive : ReadCode,
    GET "/archive.tgz"     => archive : ReadCode,
    GET "/archive.gz"      => archive : ReadCode,
    GET "/archive.tar.bz2" => archive : ReadCode,
    GET "/archive.tbz"     => archive : ReadCode,
    GET "/archive.tbz2"    => archive : ReadCode,
    GET "/archive.tb2"     => archive : ReadCode,
    GET "/archive.bz2"     => archive : ReadCode,
}

/// The ending of the file that is wanted.
#[derive(Clone, Copy, Debug)]
pub struct Format(ArchiveFormat);

impl Param for Format {
    fn read(raw: &Raw) -> std::result::Result<Option<Self>, ParamErrors> {
        match String::read(raw)? {
            None => Ok(None),
            Some(text) => {
                let format =
                    ArchiveFormat::of_extension(&text).ok_or(ParamErrors::one(NOT_LISTED))?;
                Ok(Some(Self(format)))
            }
        }
    }

    fn schema() -> serde_json::Value {
        let endings = ["zip", "tar", "tar.gz", "tgz", "gz", "tar.bz2", "tbz", "tbz2", "tb2", "bz2"];
        serde_json::json!({ "type": "string", "enum": endings })
    }
}

params! {
    pub struct GetArchive {
        /// Branch, tag or commit SHA. Default: the default branch.
        sha: Option<String>,
        /// Restricts the archive to this folder.
        path: Option<PathBytes>,
        /// Archive format, for URLs without a suffix.
        format: Option<Format>,
        /// Whether LFS objects replace their pointer files.
        include_lfs_blobs: bool = true,
    }
}

async fn archive(app: App, call: Call<ReadCode, GetArchive>) -> ApiResult<Custom> {
    let ending = call.path().rsplit_once("/archive.").map(|(_, ending)| ending);
    let format = ending.and_then(ArchiveFormat::of_extension);
    let params = &call.params;
    let wish = ArchiveRequest {
        revision: params.sha.clone(),
        path: params.path.clone().unwrap_or_default(),
        format: format.or(params.format.map(|format| format.0)).unwrap_or(ArchiveFormat::TarGz),
        with_large_files: params.include_lfs_blobs,
        name: None,
    };
    send(&app, &call, wish).await
}

/// The requested archive.
pub(crate) struct ArchiveRequest {
    /// Branch, tag or commit SHA. Default: the default branch.
    pub(crate) revision: Option<String>,
    /// Restricts the archive to this folder.
    pub(crate) path: PathBytes,
    pub(crate) format: ArchiveFormat,
    pub(crate) with_large_files: bool,
    /// What the address calls it, without its ending.
    pub(crate) name: Option<String>,
}

pub(crate) async fn send<P>(
    app: &App,
    call: &Call<ReadCode, P>,
    wish: ArchiveRequest,
) -> ApiResult<Custom> {
    if call.is_embedded() {
        return Err(Error::not_acceptable().into());
    }
    app.rates.check_archive(call.caller.actor().id, call.address())?;
    memory::ensure_some()?;
    let with_large_files = wish.with_large_files;
    let wanted = open_archive(app, &call.grant, wish).await?;
    let name = format!("{}.{}", wanted.top, wanted.format.extension());
    let mut response = HttpResponse::Ok();
    response
        .content_type("application/octet-stream")
        .insert_header((
            header::CONTENT_DISPOSITION,
            format!("attachment; filename=\"{name}\"; filename*=UTF-8''{name}"),
        ))
        .insert_header(("content-transfer-encoding", "binary"));
    if call.is_method("HEAD") {
        return Ok(Custom(head_alone(response)));
    }
    record_download(app, &call.grant).await?;
    let repo = app.storage.repository(call.grant.project());
    let large = match with_large_files {
        true => large_files::for_archives(app, call.grant.project()).await?,
        false => None,
    };
    let pieces = start(&app.git, &repo, &wanted, large).await.map_err(Error::from)?;
    Ok(Custom(response.streaming(pieces)))
}

/// Notes the download, where that is counted. One too many ends what the caller was let in by: their role, or their account.
async fn record_download(app: &App, grant: &Grant<ReadCode>) -> ApiResult<()> {
    let (id, actor) = (grant.project(), grant.actor());
    let verdict = downloads::note(app, actor, id, &grant.facts().full_path).await?;
    if verdict == Verdict::Fine {
        return Ok(());
    }
    if let Some(user) = actor.id {
        let user = app.db.peek(move |tx| tx.user(user)).await?;
        ensure_may_sign_in(app, &user).await?;
    }
    let found = app.db.peek(move |tx| locate_project(tx, actor, &IdOrPath::Id(id.0)));
    let (project, who) = found.await?;
    Grant::<ReadCode>::check(&who, project)?;
    Ok(())
}

/// What goes into the file, and its name.
async fn open_archive(app: &App, grant: &Grant<ReadCode>, wish: ArchiveRequest) -> Result<Archive> {
    let facts = grant.facts().clone();
    let read = app.git_read(facts.id, move |reader| {
        let named = wish.revision.filter(|name| !name.is_empty());
        let commit = match &named {
            Some(name) => find_commit(reader, name)?,
            None => default_head(reader, &facts)?,
        };
        let commit = commit.ok_or_else(|| Error::not_found("File"))?;
        let ref_name = named.or_else(|| facts.default_branch.clone());
        let path = TreePath::lookup(wish.path.0).map_err(|_impossible| Error::not_found("File"))?;
        match reader.entry(commit, &path) {
            Err(GitError::NotFound) => return Err(Error::not_found("File")),
            found => found?,
        };
        reader.ensure_plain_names(commit, &path)?;
        let parts = Parts {
            project: facts.full_path.rsplit('/').next().unwrap_or_default(),
            ref_name: ref_name.as_deref(),
            commit,
            path: &path,
        };
        let top = parts.top_folder(wish.name.as_deref());
        Ok(Archive { commit, format: wish.format, top, path: Some(path) })
    });
    read.await
}

/// The parts of an archive's file name.
struct Parts<'a> {
    project: &'a str,
    ref_name: Option<&'a str>,
    commit: Oid,
    path: &'a TreePath,
}

impl Parts<'_> {
    /// `<project>-<ref>` where the file is called so, else with the commit behind it; and with the folder when only
    /// that is wanted. Only what every file system can hold.
    fn top_folder(&self, name: Option<&str>) -> String {
        let mut parts = vec![self.project.to_owned()];
        parts.extend(self.ref_name.map(str::to_owned));
        let short = parts.join("-").replace('/', "-");
        if name != Some(short.as_str()) {
            parts.push(self.commit.to_string());
        }
        if !self.path.is_root() {
            parts.push(self.path.to_text().into_owned());
        }
        let is_safe = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '+');
        parts.join("-").chars().map(|c| if is_safe(c) { c } else { '-' }).collect()
    }
}
