//! The files of a repository: read, blamed and written one by one.

use std::{pin::Pin, sync::Arc};

use actix_web::{
    HttpResponse, HttpResponseBuilder,
    http::header::{self, HeaderValue},
};
use base64::{Engine as _, prelude::BASE64_STANDARD};
use bstr::BString;
use bytes::Bytes;
use entities::repo::file::{FileEntity, WrittenFileEntity};
use futures_util::{Stream, StreamExt as _, stream};
use kernel::{Error, Grant, Result};
use repo::{
    commit::{Encoding, FileFacts, FileQuery, RefusalStyle, file},
    git::{
        GitError, blob_stream,
        change::{ActionKind, Change, FileAction, Start},
    },
    lfs::Pointer,
    policy::{PushCode, ReadFiles},
};

use super::commit_actions::{signatures, start_at};
use crate::{
    app::App,
    error::ApiResult,
    extract::{Call, Content, FilePath, NonEmpty},
    file_headers::{content_kind, disposition, headers},
    large_files, params,
    present::{Created, Custom, Either, Json, NoContent, WithHeaders, head_alone},
    routes,
};

routes! { "Repository files" at "/projects/{id}/repository/files", also [ReadRepository];
    GET    "/{file_path}"     => show   : ReadFiles,
    POST   "/{file_path}"     => create : PushCode,
    PUT    "/{file_path}"     => update : PushCode,
    DELETE "/{file_path}"     => remove : PushCode,
    GET    "/{file_path}/raw" => raw    : ReadFiles also JobToken,
}

/// Whole groups of three, so that pieces can be written in Base64 one after the other.
const GROUP: usize = 3;

params! {
    pub struct OneFile {
        file_path: FilePath,
        /// Branch, tag or commit SHA.
        r#ref: NonEmpty,
    }
}

type FileAnswer = Either<WithHeaders<Json<FileEntity>>, WithHeaders<Custom>>;

async fn show(app: App, call: Call<ReadFiles, OneFile>) -> ApiResult<FileAnswer> {
    let is_head = call.is_method("HEAD");
    let OneFile { file_path, r#ref } = call.params;
    let query = FileQuery { ref_name: r#ref.0, path: file_path.lookup() };
    let (facts, checksum) = find(&app, &call.grant, query.clone()).await?;
    let headers = headers(&facts, &checksum, &query.ref_name);
    let mut entity = entity(&facts, &checksum, query.ref_name);
    if let Some(content) = &facts.content {
        entity.content = BASE64_STANDARD.encode(content);
        return Ok(Either::Left(WithHeaders { body: Json(entity), headers }));
    }
    let mut response = HttpResponse::Ok();
    response.content_type("application/json");
    if is_head {
        return Ok(Either::Right(WithHeaders { body: Custom(head_alone(response)), headers }));
    }
    let (before, after) = entity.around_content().map_err(Error::internal)?;
    let content = in_base64(open(&app, &call.grant, &facts).await?);
    let body = once(before).chain(content).chain(once(after));
    Ok(Either::Right(WithHeaders { body: Custom(response.streaming(body)), headers }))
}

/// The file, and the SHA-256 of its content.
pub(super) async fn find(
    app: &App,
    grant: &Grant<ReadFiles>,
    query: FileQuery,
) -> Result<(FileFacts, Arc<str>)> {
    let answers = app.answers.clone();
    let read = app.git_read(grant.project(), move |reader| file::find(reader, &answers, &query));
    let facts = read.await?;
    let repo = app.storage.repository(grant.project());
    let checksum = file::checksum(&app.git, &repo, &app.answers, &facts).await?;
    Ok((facts, checksum))
}

fn entity(facts: &FileFacts, checksum: &str, ref_name: String) -> FileEntity {
    FileEntity {
        file_name: facts.entry.path.name().to_string(),
        file_path: facts.entry.path.to_text().into_owned(),
        size: facts.size,
        encoding: "base64",
        content_sha256: checksum.to_owned(),
        ref_name,
        blob_id: facts.entry.id.to_string(),
        commit_id: facts.commit.to_string(),
        last_commit_id: facts.last_commit.to_string(),
        execute_filemode: facts.entry.is_executable(),
        content: String::new(),
    }
}

pub(super) type Pieces = Pin<Box<dyn Stream<Item = Result<Bytes, GitError>>>>;

pub(super) async fn open(app: &App, grant: &Grant<ReadFiles>, facts: &FileFacts) -> Result<Pieces> {
    let repo = app.storage.repository(grant.project());
    Ok(Box::pin(blob_stream(&app.git, &repo, facts.entry.id).await?))
}

pub(super) fn once(text: impl Into<Bytes>) -> impl Stream<Item = Result<Bytes, GitError>> {
    stream::once(std::future::ready(Ok(text.into())))
}

/// Pieces of content as pieces of one Base64 text.
pub(super) fn in_base64(pieces: Pieces) -> impl Stream<Item = Result<Bytes, GitError>> {
    stream::try_unfold(Some((pieces, Vec::new())), |state| async move {
        let Some((mut pieces, mut rest)) = state else { return Ok(None) };
        match pieces.next().await.transpose()? {
            Some(piece) => {
                rest.extend_from_slice(&piece);
                let whole = rest.len() / GROUP * GROUP;
                let text = BASE64_STANDARD.encode(&rest[..whole]);
                rest.drain(..whole);
                Ok(Some((text.into(), Some((pieces, rest)))))
            }
            None => Ok(Some((BASE64_STANDARD.encode(&rest).into(), None))),
        }
    })
}

params! {
    pub struct RawFile {
        file_path: FilePath,
        /// Branch, tag or commit SHA. Default: the head of the default branch.
        r#ref: Option<String>,
        /// Whether an LFS pointer is answered with the stored object.
        lfs: bool = false,
    }
}

async fn raw(app: App, call: Call<ReadFiles, RawFile>) -> ApiResult<WithHeaders<Custom>> {
    let is_head = call.is_method("HEAD");
    let RawFile { file_path, r#ref, lfs } = call.params;
    let ref_name = r#ref.filter(|name| !name.trim().is_empty());
    let query = FileQuery {
        ref_name: ref_name.unwrap_or_else(|| "HEAD".to_owned()),
        path: file_path.lookup(),
    };
    let form = RawForm { is_head, with_large_files: lfs, is_inline: true };
    send_raw(&app, &call.grant, query, form).await
}

/// How a file is to be sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RawForm {
    pub(crate) is_head: bool,
    /// What a pointer of large file storage stands for, where that is stored.
    pub(crate) with_large_files: bool,
    /// To be shown in place rather than saved.
    pub(crate) is_inline: bool,
}

/// A file as it is.
pub(crate) async fn send_raw(
    app: &App,
    grant: &Grant<ReadFiles>,
    query: FileQuery,
    form: RawForm,
) -> ApiResult<WithHeaders<Custom>> {
    let name = format!("{} {:?}", query.ref_name, query.path);
    app.rates.check_raw_file(grant.project(), name)?;
    let (facts, checksum) = find(app, grant, query.clone()).await?;
    let mut headers = headers(&facts, &checksum, &query.ref_name);
    headers.extend([
        ("cache-control", "no-store, no-cache".to_owned()),
        ("pragma", "no-cache".to_owned()),
        ("expires", "Fri, 01 Jan 1990 00:00:00 GMT".to_owned()),
    ]);
    let mut response = HttpResponse::Ok();
    if let Ok(value) = HeaderValue::from_str(&disposition(facts.entry.path.name(), form.is_inline))
    {
        response.insert_header((header::CONTENT_DISPOSITION, value));
    }
    let body = raw_body(app, grant, &facts, form, response).await?;
    Ok(WithHeaders { body: Custom(body), headers })
}

async fn raw_body(
    app: &App,
    grant: &Grant<ReadFiles>,
    facts: &FileFacts,
    form: RawForm,
    mut response: HttpResponseBuilder,
) -> ApiResult<HttpResponse> {
    // A HEAD tells the length of what it does not send.
    let sent = if form.is_head { 0 } else { usize::MAX };
    // What git has of a large file is short enough to be here.
    let pointer = facts.content.as_deref().filter(|_| form.with_large_files);
    if let Some(pointer) = pointer.and_then(Pointer::parse) {
        let found = large_files::find(app, grant.project(), &pointer.id).await?;
        let (size, content) = found.ok_or_else(Error::hidden)?;
        response.content_type("application/octet-stream").no_chunking(size);
        return Ok(response.streaming(content.take(sent)));
    }
    if let Some(content) = &facts.content {
        return Ok(response.content_type(content_kind(content)).body(content.clone()));
    }
    let mut pieces = open(app, grant, facts).await?;
    let first = pieces.next().await.transpose().map_err(Error::from)?.unwrap_or_default();
    response.content_type(content_kind(&first)).no_chunking(facts.size);
    Ok(response.streaming(once(first).chain(pieces).take(sent)))
}

params! {
    pub struct WriteFile {
        file_path: FilePath,
        branch: NonEmpty,
        commit_message: NonEmpty,
        content: Content,
        encoding: Encoding = Encoding::Text,
        author_email: Option<String>,
        author_name: Option<String>,
        execute_filemode: Option<bool>,
        /// Branch from which a new branch starts.
        start_branch: Option<String>,
        /// Last known commit SHA of the file; only for updates.
        last_commit_id: Option<String>,
    }
}

params! {
    pub struct RemoveFile {
        file_path: FilePath,
        branch: NonEmpty,
        commit_message: NonEmpty,
        author_email: Option<String>,
        author_name: Option<String>,
        start_branch: Option<String>,
        last_commit_id: Option<String>,
    }
}

async fn create(
    app: App,
    call: Call<PushCode, WriteFile>,
) -> ApiResult<Created<WrittenFileEntity>> {
    let deed =
        FileChange { last_commit_id: None, ..FileChange::of(ActionKind::Create, &call.params)? };
    Ok(Created(write(&app, &call, deed, call.params.author()).await?))
}

async fn update(app: App, call: Call<PushCode, WriteFile>) -> ApiResult<Json<WrittenFileEntity>> {
    let deed = FileChange::of(ActionKind::Update, &call.params)?;
    Ok(Json(write(&app, &call, deed, call.params.author()).await?))
}

async fn remove(app: App, call: Call<PushCode, RemoveFile>) -> ApiResult<NoContent> {
    let params = &call.params;
    let deed = FileChange {
        kind: ActionKind::Delete,
        path: params.file_path.bytes().into(),
        content: None,
        executable: None,
        last_commit_id: params.last_commit_id.clone(),
        branch: params.branch.0.clone(),
        start_branch: params.start_branch.clone(),
        message: params.commit_message.0.clone(),
    };
    let author = (params.author_name.clone(), params.author_email.clone());
    write(&app, &call, deed, author).await?;
    Ok(NoContent)
}

impl WriteFile {
    fn author(&self) -> (Option<String>, Option<String>) {
        (self.author_name.clone(), self.author_email.clone())
    }
}

/// What is to become of one file.
struct FileChange {
    kind: ActionKind,
    path: BString,
    content: Option<Bytes>,
    executable: Option<bool>,
    last_commit_id: Option<String>,
    branch: String,
    start_branch: Option<String>,
    message: String,
}

impl FileChange {
    fn of(kind: ActionKind, params: &WriteFile) -> Result<Self> {
        let content = params.encoding.decode(params.content.0.clone());
        let content =
            content.ok_or_else(|| Error::bad_request().parameters("content is invalid"))?;
        Ok(Self {
            kind,
            path: params.file_path.bytes().into(),
            content: Some(content),
            executable: params.execute_filemode,
            last_commit_id: params.last_commit_id.clone(),
            branch: params.branch.0.clone(),
            start_branch: params.start_branch.clone(),
            message: params.commit_message.0.clone(),
        })
    }

    fn actions(&self) -> Vec<FileAction> {
        let mut action = FileAction::new(self.kind, self.path.clone());
        action.content = self.content.clone();
        action.last_commit_id = self.last_commit_id.clone();
        action.executable = self.executable;
        let mut actions = vec![action];
        // An update keeps the mode; a change of it is an action of its own.
        if let (ActionKind::Update, Some(executable)) = (self.kind, self.executable) {
            actions
                .push(FileAction::new(ActionKind::Chmod, self.path.clone()).executable(executable));
        }
        actions
    }
}

async fn write<P>(
    app: &App,
    call: &Call<PushCode, P>,
    deed: FileChange,
    author: (Option<String>, Option<String>),
) -> Result<WrittenFileEntity> {
    let (author, committer) = signatures(app, call.caller.user()?, author.0, author.1);
    let actions = deed.actions();
    let written =
        WrittenFileEntity { file_path: deed.path.to_string(), branch: deed.branch.clone() };
    let change = Change {
        branch: deed.branch,
        start: Start { at: start_at(deed.start_branch, None), repository: None },
        force: false,
        actions,
        message: deed.message,
        author,
        committer,
    };
    app.writer().commit(&call.grant.also()?, change, RefusalStyle::File(deed.kind)).await?;
    Ok(written)
}
