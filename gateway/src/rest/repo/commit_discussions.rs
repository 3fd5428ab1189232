//! Discussions of commits. Their notes are those that [`commit_comments`](super::commit_comments) shows in another form.

use entities::review::note::{DiscussionEntity, NoteEntity};
use forge::merge_request::diff_notes::ensure_in_commit;
use kernel::{Error, Result, ids::CommitNoteId};
use repo::{
    commit::{
        discussion::{self, DiffPosition, NewComment},
        note::{LineAt, LineType},
    },
    policy::{CommentOnCommit, ReadCommitDiscussions},
};
use review::note::position::Position;

use super::commit_comments::find_commit;
use crate::{
    app::App,
    error::ApiResult,
    extract::{Call, params::OnlyPage},
    params,
    present::{Created, Json, NoContent, PagedList},
    rest::shared::discussion_params::{
        ChangeThreadNote, CreateDiscussion, OneDiscussion, PositionParams,
    },
    routes,
};

routes! { "Commit discussions" at "/projects/{id}/repository/commits/{sha}/discussions";
    GET    ""                                 => list        : ReadCommitDiscussions,
    POST   ""                                 => create      : CommentOnCommit,
    GET    "/{discussion_id}"                 => show        : ReadCommitDiscussions,
    GET    "/{discussion_id}/notes"           => list_notes  : ReadCommitDiscussions,
    POST   "/{discussion_id}/notes"           => reply       : CommentOnCommit,
    GET    "/{discussion_id}/notes/{note_id}" => show_note   : ReadCommitDiscussions,
    PUT    "/{discussion_id}/notes/{note_id}" => update_note : CommentOnCommit,
    DELETE "/{discussion_id}/notes/{note_id}" => remove_note : CommentOnCommit,
}

params! {
    pub struct OnCommit {
        /// Commit SHA, or name of a branch or tag.
        sha: String,
    }
}

params! {
    pub struct InDiff {
        /// A position in the diff of the commit.
        position: Option<PositionParams>,
    }
}

params! {
    pub struct OneCommitNote {
        note_id: CommitNoteId,
    }
}

async fn list(
    app: App,
    call: Call<ReadCommitDiscussions, (OnCommit, OnlyPage)>,
) -> ApiResult<PagedList<DiscussionEntity>> {
    let (grant, (on, _), page, urls) = (call.grant, call.params, call.page, app.urls.clone());
    let sha = find_commit(&app, grant.project(), on.sha).await?;
    let found = app.db.read(move |tx| {
        let threads = discussion::list(tx, &grant, sha, page)?;
        threads.try_map_all(|threads| DiscussionEntity::all_of_commit(tx, &urls, threads))
    });
    Ok(PagedList(found.await?))
}

type OneOfCommit = (OnCommit, OneDiscussion);

/// One discussion of a commit.
async fn read(
    app: &App,
    grant: kernel::Grant<ReadCommitDiscussions>,
    (on, one): OneOfCommit,
) -> Result<DiscussionEntity> {
    let (project, urls) = (grant.project(), app.urls.clone());
    let sha = find_commit(app, project, on.sha).await?;
    let found = app.db.read(move |tx| {
        let thread = discussion::read(tx, project, sha, &one.discussion_id)?;
        DiscussionEntity::one_of_commit(tx, &urls, thread)
    });
    found.await
}

async fn show(
    app: App,
    call: Call<ReadCommitDiscussions, OneOfCommit>,
) -> ApiResult<Json<DiscussionEntity>> {
    Ok(Json(read(&app, call.grant, call.params).await?))
}

async fn list_notes(
    app: App,
    call: Call<ReadCommitDiscussions, (OnCommit, (OneDiscussion, OnlyPage))>,
) -> ApiResult<PagedList<NoteEntity>> {
    let (page, (on, (one, _))) = (call.page, call.params);
    let thread = read(&app, call.grant, (on, one)).await?;
    Ok(PagedList(page.slice(thread.notes)))
}

async fn show_note(
    app: App,
    call: Call<ReadCommitDiscussions, (OnCommit, (OneDiscussion, OneCommitNote))>,
) -> ApiResult<Json<NoteEntity>> {
    let (on, (one, note)) = call.params;
    let thread = read(&app, call.grant, (on, one)).await?;
    let found = thread.notes.into_iter().find(|found| found.id == note.note_id.0);
    Ok(Json(found.ok_or_else(|| Error::not_found("Note"))?))
}

async fn create(
    app: App,
    call: Call<CommentOnCommit, (OnCommit, (CreateDiscussion, InDiff))>,
) -> ApiResult<Created<DiscussionEntity>> {
    app.rates.check_note(call.caller.user()?)?;
    let (grant, (on, (said, place)), urls) = (call.grant, call.params, app.urls.clone());
    let sha = find_commit(&app, grant.project(), on.sha).await?;
    let spot = match place.position.map(Position::from) {
        None => None,
        Some(position) => {
            ensure_in_commit(&app, grant.project(), sha, &position).await?;
            Some(spot(&position)?)
        }
    };
    let made = app.db.write(move |tx| {
        let thread = discussion::begin(tx, &grant, sha, said.into(), spot)?;
        DiscussionEntity::one_of_commit(tx, &urls, thread)
    });
    Ok(Created(made.await?))
}

/// The line that a place means: the new one, where it has two.
fn spot(position: &Position) -> Result<DiffPosition> {
    let new = position.new_path.as_ref().zip(position.new_line);
    let old = position.old_path.as_ref().or(position.new_path.as_ref()).zip(position.old_line);
    let new = new.map(|(path, line)| (path, line, LineType::New));
    let old = old.map(|(path, line)| (path, line, LineType::Old));
    let line = new.or(old).map(|(path, line, line_type)| {
        let path = path.clone();
        LineAt { path, line, line_type }
    });
    Ok(DiffPosition { position: serde_json::to_string(position).map_err(Error::internal)?, line })
}

impl From<CreateDiscussion> for NewComment {
    fn from(said: CreateDiscussion) -> Self {
        Self { body: said.body, created_at: said.created_at }
    }
}

async fn reply(
    app: App,
    call: Call<CommentOnCommit, (OnCommit, (OneDiscussion, CreateDiscussion))>,
) -> ApiResult<Created<NoteEntity>> {
    app.rates.check_note(call.caller.user()?)?;
    let (grant, (on, (one, said)), urls) = (call.grant, call.params, app.urls.clone());
    let sha = find_commit(&app, grant.project(), on.sha).await?;
    let made = app.db.write(move |tx| {
        let note = discussion::reply(tx, &grant, sha, &one.discussion_id, said.into())?;
        NoteEntity::one_of_commit(tx, &urls, note)
    });
    Ok(Created(made.await?))
}

/// A note of a discussion, and what is to become of it.
type ChangeNoteParams = (OnCommit, (OneDiscussion, (OneCommitNote, ChangeThreadNote)));

async fn update_note(
    app: App,
    call: Call<CommentOnCommit, ChangeNoteParams>,
) -> ApiResult<Json<NoteEntity>> {
    let (grant, (on, (one, (note, change))), urls) = (call.grant, call.params, app.urls.clone());
    let sha = find_commit(&app, grant.project(), on.sha).await?;
    let kept = app.db.write(move |tx| {
        let (thread, id) = (one.discussion_id.as_str(), note.note_id);
        let Some(body) = change.body else {
            // What is said about commits is never settled.
            discussion::read(tx, grant.project(), sha, thread)?;
            return Err(Error::bad_request().because("Note is not resolvable"));
        };
        let note = discussion::update(tx, &grant, sha, thread, id, &body)?;
        NoteEntity::one_of_commit(tx, &urls, note)
    });
    Ok(Json(kept.await?))
}

async fn remove_note(
    app: App,
    call: Call<CommentOnCommit, (OnCommit, (OneDiscussion, OneCommitNote))>,
) -> ApiResult<NoContent> {
    let since = call.unmodified_since();
    let (grant, (on, (one, note))) = (call.grant, call.params);
    let sha = find_commit(&app, grant.project(), on.sha).await?;
    let done = app.db.write(move |tx| {
        discussion::remove(tx, &grant, sha, &one.discussion_id, note.note_id, since)
    });
    done.await?;
    Ok(NoContent)
}
