//! Comments on commits.

use entities::repo::commit_comment::CommitCommentEntity;
use kernel::{Result, ids::ProjectId};
use org::user::store::UserStore;
use repo::{
    commit::{
        note::{self, CommitNoteStore, LineAt, LineType, NewNote},
        read::{commit_named, deadline},
    },
    git::Oid,
    policy::{CommentOnCommit, ReadCode},
};

use crate::{
    app::App,
    error::ApiResult,
    extract::Call,
    param_enums, params,
    present::{Created, PagedList},
    routes,
};

routes! { "Commit comments" at "/projects/{id}/repository/commits/{sha}/comments";
    GET  "" => list   : ReadCode,
    POST "" => create : CommentOnCommit,
}

param_enums! { LineType }

params! {
    pub struct ListComments: paged {
        sha: String,
    }
}

async fn list(
    app: App,
    call: Call<ReadCode, ListComments>,
) -> ApiResult<PagedList<CommitCommentEntity>> {
    let (project, page) = (call.grant.project(), call.page);
    let sha = find_commit(&app, project, call.params.sha).await?;
    let read = app.db.read(move |tx| {
        let notes = tx.commit_notes(project, sha, page)?;
        let mut ids: Vec<_> = notes.items.iter().map(|note| note.author_id).collect();
        ids.sort_unstable();
        ids.dedup();
        Ok((notes, tx.users_by_id(&ids)?))
    });
    let (notes, authors) = read.await?;
    Ok(PagedList(notes.map(|note| {
        let author = authors.get(&note.author_id);
        CommitCommentEntity::new(&app.urls, note, author)
    })))
}

params! {
    pub struct CreateComment {
        sha: String,
        note: String,
        /// Path of a file changed by the commit. Requires `line`.
        path: Option<String>,
        line: Option<i64>,
        line_type: LineType = LineType::New,
    } with needs("path", "line");
}

async fn create(
    app: App,
    call: Call<CommentOnCommit, CreateComment>,
) -> ApiResult<Created<CommitCommentEntity>> {
    let CreateComment { sha, note, path, line, line_type } = call.params;
    let at = match (path.filter(|path| !path.is_empty()), line) {
        (Some(path), Some(line)) => Some(LineAt { path, line, line_type }),
        _ => None,
    };
    let (project, grant) = (call.grant.project(), call.grant);
    let new = NewNote { sha: find_commit(&app, project, sha).await?, note, at: None };
    let new = NewNote { at: shown_line(&app, project, new.sha, at).await?, ..new };
    let made = app.db.write(move |tx| note::create(tx, &grant, &new)).await?;
    let author = call.caller.user()?;
    Ok(Created(CommitCommentEntity::new(&app.urls, made, Some(author))))
}

pub(super) async fn find_commit(app: &App, project: ProjectId, sha: String) -> Result<Oid> {
    app.git_read(project, move |reader| commit_named(reader, &sha)).await
}

/// The line, where the commit's diff shows it; a comment on any other line is about the whole commit.
async fn shown_line(
    app: &App,
    project: ProjectId,
    sha: Oid,
    at: Option<LineAt>,
) -> Result<Option<LineAt>> {
    let Some(at) = at else { return Ok(None) };
    let read = app.git_read(project, move |reader| {
        let diff = reader.commit_diff(sha, reader.diff_limits(), deadline())?;
        Ok(at.is_in(&diff).then_some(at))
    });
    read.await
}
