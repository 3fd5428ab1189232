//! Discussions of issues and merge requests: notes that answer each other.

use entities::review::note::{CommandsEntity, DiscussionEntity, NoteEntity, NoteResultEntity};
use forge::{
    merge_request::diff_notes::ensure_shown, ports::directory::Directory, quick_actions::Sender,
};
use kernel::{Grant, Result};
use review::{
    item::{ParticipationGrant, ReadItemsGrant},
    note::{
        actions::{self, NewNote, NoteResult, NoteTarget},
        position::Position,
        reading, resolution,
    },
    policy::{CreateIssues, ReadIssueNotes, ReadMergeRequests, TakePartInMergeRequests},
    quick_action::ActionSummary,
};

use super::{
    item_params::{NamesItem, OnItems, OneMergeRequest},
    note_params::{OnDiff, OneNote, ResolveDiscussion},
    notes::said,
};
use crate::{
    app::App,
    error::ApiResult,
    extract::{Call, Caller, params::OnlyPage},
    present::{AcceptedWith, Created, Either, Json, NoContent, PagedList},
    rest::shared::discussion_params::{ChangeThreadNote, CreateDiscussion, OneDiscussion},
    routes,
};

routes! { "Discussions" at "/projects/{id}";
    GET    "/issues/{issue_iid}/discussions"                                         => list         : ReadIssueNotes,
    POST   "/issues/{issue_iid}/discussions"                                         => create       : CreateIssues,
    GET    "/issues/{issue_iid}/discussions/{discussion_id}"                         => show         : ReadIssueNotes,
    GET    "/issues/{issue_iid}/discussions/{discussion_id}/notes"                   => list_notes   : ReadIssueNotes,
    POST   "/issues/{issue_iid}/discussions/{discussion_id}/notes"                   => reply        : CreateIssues,
    GET    "/issues/{issue_iid}/discussions/{discussion_id}/notes/{note_id}"         => show_note    : ReadIssueNotes,
    PUT    "/issues/{issue_iid}/discussions/{discussion_id}/notes/{note_id}"         => update_note  : CreateIssues,
    DELETE "/issues/{issue_iid}/discussions/{discussion_id}/notes/{note_id}"         => remove_note  : CreateIssues,
    GET    "/merge_requests/{merge_request_iid}/discussions"                         => list         : ReadMergeRequests,
    POST   "/merge_requests/{merge_request_iid}/discussions"                         => create_on_diff : TakePartInMergeRequests,
    GET    "/merge_requests/{merge_request_iid}/discussions/{discussion_id}"         => show         : ReadMergeRequests,
    PUT    "/merge_requests/{merge_request_iid}/discussions/{discussion_id}"         => resolve      : TakePartInMergeRequests,
    GET    "/merge_requests/{merge_request_iid}/discussions/{discussion_id}/notes"   => list_notes   : ReadMergeRequests,
    POST   "/merge_requests/{merge_request_iid}/discussions/{discussion_id}/notes"   => reply        : TakePartInMergeRequests,
    GET    "/merge_requests/{merge_request_iid}/discussions/{discussion_id}/notes/{note_id}" => show_note   : ReadMergeRequests,
    PUT    "/merge_requests/{merge_request_iid}/discussions/{discussion_id}/notes/{note_id}" => update_note : TakePartInMergeRequests,
    DELETE "/merge_requests/{merge_request_iid}/discussions/{discussion_id}/notes/{note_id}" => remove_note : TakePartInMergeRequests,
}

pub(super) async fn list<A: OnItems>(
    app: App,
    call: Call<A, (A::Path, OnlyPage)>,
) -> ApiResult<PagedList<DiscussionEntity>>
where
    Grant<A>: ReadItemsGrant,
{
    let (grant, page, (path, _)) = (call.grant, call.page, call.params);
    let (directory, urls) = (Directory::new(&app.urls), app.urls.clone());
    let found = app.db.read(move |tx| {
        let (item, threads) = reading::discussions(tx, &grant, &directory, path.iid(), page)?;
        threads.try_map_all(|threads| DiscussionEntity::all(tx, &urls, &item, threads))
    });
    Ok(PagedList(found.await?))
}

/// One discussion, where the caller sees it.
async fn read<A: OnItems>(
    app: &App,
    grant: Grant<A>,
    iid: i64,
    id: String,
) -> Result<DiscussionEntity>
where
    Grant<A>: ReadItemsGrant,
{
    let (directory, urls) = (Directory::new(&app.urls), app.urls.clone());
    let found = app.db.read(move |tx| {
        let item = review::item::reading::read(tx, &grant, iid)?;
        let thread = reading::discussion(tx, &grant, &directory, &item, &id)?;
        DiscussionEntity::one(tx, &urls, &item, thread)
    });
    found.await
}

pub(super) async fn show<A: OnItems>(
    app: App,
    call: Call<A, (A::Path, OneDiscussion)>,
) -> ApiResult<Json<DiscussionEntity>>
where
    Grant<A>: ReadItemsGrant,
{
    let (path, one) = call.params;
    Ok(Json(read(&app, call.grant, path.iid(), one.discussion_id).await?))
}

pub(super) async fn list_notes<A: OnItems>(
    app: App,
    call: Call<A, (A::Path, (OneDiscussion, OnlyPage))>,
) -> ApiResult<PagedList<NoteEntity>>
where
    Grant<A>: ReadItemsGrant,
{
    let (page, (path, (one, _))) = (call.page, call.params);
    let thread = read(&app, call.grant, path.iid(), one.discussion_id).await?;
    Ok(PagedList(page.slice(thread.notes)))
}

pub(super) async fn show_note<A: OnItems>(
    app: App,
    call: Call<A, (A::Path, (OneDiscussion, OneNote))>,
) -> ApiResult<Json<NoteEntity>>
where
    Grant<A>: ReadItemsGrant,
{
    let (path, (one, note)) = call.params;
    let thread = read(&app, call.grant, path.iid(), one.discussion_id).await?;
    let found = thread.notes.into_iter().find(|found| found.id == note.note_id.0);
    Ok(Json(found.ok_or_else(|| kernel::Error::not_found("Note"))?))
}

type CreateAnswer = Either<Created<DiscussionEntity>, AcceptedWith<CommandsEntity>>;

pub(super) async fn create<A: OnItems>(
    app: App,
    call: Call<A, (A::Path, CreateDiscussion)>,
) -> ApiResult<CreateAnswer>
where
    Grant<A>: ParticipationGrant,
{
    let (grant, (path, params)) = (call.grant, call.params);
    let place = NoteTarget::Thread { position: None, commit_id: None };
    begin(&app, grant, &call.caller, path.iid(), params, place).await
}

async fn create_on_diff(
    app: App,
    call: Call<TakePartInMergeRequests, (OneMergeRequest, (CreateDiscussion, OnDiff))>,
) -> ApiResult<CreateAnswer> {
    let (grant, (path, (params, on))) = (call.grant, call.params);
    let position = on.position.map(Position::from);
    if let Some(position) = &position {
        ensure_shown(&app, grant.project(), position).await?;
    }
    let position = position.as_ref().map(serde_json::to_string).transpose();
    let position = position.map_err(kernel::Error::internal)?;
    let place = NoteTarget::Thread { position, commit_id: on.commit_id };
    begin(&app, grant, &call.caller, path.iid(), params, place).await
}

async fn begin<A: OnItems>(
    app: &App,
    grant: Grant<A>,
    caller: &Caller,
    iid: i64,
    params: CreateDiscussion,
    place: NoteTarget,
) -> ApiResult<CreateAnswer>
where
    Grant<A>: ParticipationGrant,
{
    app.rates.check_note(caller.user()?)?;
    let (asked, directory) = (grant.clone(), Directory::new(&app.urls));
    let new = NewNote { body: params.body, internal: false, created_at: params.created_at, place };
    let made = app.db.write(move |tx| actions::create(tx, &asked, &directory, iid, &new)).await?;
    let sender = Sender { grant: &grant, caller: caller.user()?, seen: None };
    let said = A::finish(app, &sender, made).await?;
    let Some(note) = said.note else {
        return Ok(Either::Right(AcceptedWith(said.done.into())));
    };
    Ok(Either::Left(Created(read(app, grant, iid, note.discussion).await?)))
}

pub(super) async fn reply<A: OnItems>(
    app: App,
    call: Call<A, (A::Path, (OneDiscussion, CreateDiscussion))>,
) -> ApiResult<Either<Created<NoteEntity>, AcceptedWith<CommandsEntity>>>
where
    Grant<A>: ParticipationGrant,
{
    app.rates.check_note(call.caller.user()?)?;
    let (grant, (path, (one, params))) = (call.grant, call.params);
    let (asked, directory, iid) = (grant.clone(), Directory::new(&app.urls), path.iid());
    let place = NoteTarget::Reply(one.discussion_id);
    let new = NewNote { body: params.body, internal: false, created_at: params.created_at, place };
    let made = app.db.write(move |tx| actions::create(tx, &asked, &directory, iid, &new)).await?;
    let sender = Sender { grant: &grant, caller: call.caller.user()?, seen: None };
    Ok(match said(&app, &sender, made).await? {
        NoteResultEntity::Note(note) => Either::Left(Created(*note)),
        NoteResultEntity::Commands(done) => Either::Right(AcceptedWith(done)),
    })
}

/// A note of a discussion, and what is to become of it.
type ChangeNoteParams<P> = (P, (OneDiscussion, (OneNote, ChangeThreadNote)));

pub(super) async fn update_note<A: OnItems>(
    app: App,
    call: Call<A, ChangeNoteParams<A::Path>>,
) -> ApiResult<Either<Json<NoteEntity>, AcceptedWith<CommandsEntity>>>
where
    Grant<A>: ParticipationGrant,
{
    let (grant, (path, (one, (note, change)))) = (call.grant, call.params);
    let (asked, directory) = (grant.clone(), Directory::new(&app.urls));
    let changed = app.db.write(move |tx| {
        let (iid, id) = (path.iid(), note.note_id);
        reading::ensure_in_discussion(tx, &asked, &directory, iid, &one.discussion_id, id)?;
        let Some(resolved) = change.resolved else {
            let body = change.body.unwrap_or_default();
            return actions::update(tx, &asked, &directory, iid, id, &body);
        };
        let (item, note) = resolution::resolve_note(tx, &asked, &directory, iid, id, resolved)?;
        Ok(NoteResult { item, note: Some(note), done: ActionSummary::default(), replaced: None })
    });
    let changed = changed.await?;
    let sender = Sender { grant: &grant, caller: call.caller.user()?, seen: None };
    Ok(match said(&app, &sender, changed).await? {
        NoteResultEntity::Note(note) => Either::Left(Json(*note)),
        NoteResultEntity::Commands(done) => Either::Right(AcceptedWith(done)),
    })
}

pub(super) async fn remove_note<A: OnItems>(
    app: App,
    call: Call<A, (A::Path, (OneDiscussion, OneNote))>,
) -> ApiResult<NoContent>
where
    Grant<A>: ParticipationGrant,
{
    let since = call.unmodified_since();
    let (grant, (path, (one, note))) = (call.grant, call.params);
    let directory = Directory::new(&app.urls);
    let done = app.db.write(move |tx| {
        let (iid, id) = (path.iid(), note.note_id);
        reading::ensure_in_discussion(tx, &grant, &directory, iid, &one.discussion_id, id)?;
        actions::remove(tx, &grant, &directory, iid, id, since)
    });
    done.await?;
    Ok(NoContent)
}

async fn resolve(
    app: App,
    call: Call<TakePartInMergeRequests, (OneMergeRequest, (OneDiscussion, ResolveDiscussion))>,
) -> ApiResult<Json<DiscussionEntity>> {
    let (grant, (path, (one, asked))) = (call.grant, call.params);
    let (directory, urls) = (Directory::new(&app.urls), app.urls.clone());
    let done = app.db.write(move |tx| {
        let (item, thread) = resolution::resolve_discussion(
            tx,
            &grant,
            &directory,
            path.iid(),
            &one.discussion_id,
            asked.resolved,
        )?;
        DiscussionEntity::one(tx, &urls, &item, thread)
    });
    Ok(Json(done.await?))
}
