//! Comments on issues and merge requests. What both have, and epics too, is written once, for any kind of grant.

use entities::review::note::{CommandsEntity, NoteEntity, NoteResultEntity};
use forge::{ports::directory::Directory, quick_actions::Sender};
use kernel::{Grant, Result};
use review::{
    item::{ParticipationGrant, ReadItemsGrant},
    note::{
        actions::{self, NewNote, NoteResult, NoteTarget},
        reading,
    },
    policy::{CreateIssues, ReadIssueNotes, ReadMergeRequests, TakePartInMergeRequests},
};

use super::{
    item_params::{NamesItem, OnItems},
    note_params::{ChangeNote, CreateNote, ListNotes, OneNote},
};
use crate::{
    app::App,
    error::ApiResult,
    extract::Call,
    present::{AcceptedWith, Created, Either, Json, NoContent, PagedList},
    routes,
};

routes! { "Notes" at "/projects/{id}";
    GET    "/issues/{issue_iid}/notes"                              => list   : ReadIssueNotes,
    POST   "/issues/{issue_iid}/notes"                              => create : CreateIssues,
    GET    "/issues/{issue_iid}/notes/{note_id}"                    => show   : ReadIssueNotes,
    PUT    "/issues/{issue_iid}/notes/{note_id}"                    => update : CreateIssues,
    DELETE "/issues/{issue_iid}/notes/{note_id}"                    => remove : CreateIssues,
    GET    "/merge_requests/{merge_request_iid}/notes"              => list   : ReadMergeRequests also JobToken,
    POST   "/merge_requests/{merge_request_iid}/notes"              => create : TakePartInMergeRequests,
    GET    "/merge_requests/{merge_request_iid}/notes/{note_id}"    => show   : ReadMergeRequests,
    PUT    "/merge_requests/{merge_request_iid}/notes/{note_id}"    => update : TakePartInMergeRequests,
    DELETE "/merge_requests/{merge_request_iid}/notes/{note_id}"    => remove : TakePartInMergeRequests,
}

pub(super) async fn list<A: OnItems>(
    app: App,
    call: Call<A, (A::Path, ListNotes)>,
) -> ApiResult<PagedList<NoteEntity>>
where
    Grant<A>: ReadItemsGrant,
{
    let (grant, page, (path, listed)) = (call.grant, call.page, call.params);
    let (directory, urls) = (Directory::new(&app.urls), app.urls.clone());
    let found = app.db.read(move |tx| {
        let (item, notes) = reading::list(tx, &grant, &directory, path.iid(), listed.into(), page)?;
        notes.try_map_all(|notes| NoteEntity::all(tx, &urls, &item, notes))
    });
    Ok(PagedList(found.await?))
}

pub(super) async fn show<A: OnItems>(
    app: App,
    call: Call<A, (A::Path, OneNote)>,
) -> ApiResult<Json<NoteEntity>>
where
    Grant<A>: ReadItemsGrant,
{
    let (grant, (path, one)) = (call.grant, call.params);
    let (directory, urls) = (Directory::new(&app.urls), app.urls.clone());
    let found = app.db.read(move |tx| {
        let item = review::item::reading::read(tx, &grant, path.iid())?;
        let note = reading::note(tx, &grant, &directory, &item, one.note_id)?;
        NoteEntity::one(tx, &urls, &item, note)
    });
    Ok(Json(found.await?))
}

pub(super) async fn create<A: OnItems>(
    app: App,
    call: Call<A, (A::Path, CreateNote)>,
) -> ApiResult<Either<Created<NoteEntity>, AcceptedWith<CommandsEntity>>>
where
    Grant<A>: ParticipationGrant,
{
    app.rates.check_note(call.caller.user()?)?;
    let (grant, (path, params)) = (call.grant, call.params);
    let (asked, directory) = (grant.clone(), Directory::new(&app.urls));
    let new = NewNote {
        body: params.body,
        internal: params.internal.or(params.confidential).unwrap_or_default(),
        created_at: params.created_at,
        place: NoteTarget::Alone,
    };
    let iid = path.iid();
    let made = app.db.write(move |tx| actions::create(tx, &asked, &directory, iid, &new));
    let seen = params.merge_request_diff_head_sha.filter(|sha| !sha.is_empty());
    let sender = Sender { grant: &grant, caller: call.caller.user()?, seen: seen.as_deref() };
    Ok(match said(&app, &sender, made.await?).await? {
        NoteResultEntity::Note(note) => Either::Left(Created(*note)),
        NoteResultEntity::Commands(done) => Either::Right(AcceptedWith(done)),
    })
}

pub(super) async fn update<A: OnItems>(
    app: App,
    call: Call<A, (A::Path, (OneNote, ChangeNote))>,
) -> ApiResult<Either<Json<NoteEntity>, AcceptedWith<CommandsEntity>>>
where
    Grant<A>: ParticipationGrant,
{
    let (grant, (path, (one, change))) = (call.grant, call.params);
    let (asked, directory, iid) = (grant.clone(), Directory::new(&app.urls), path.iid());
    let changed = app
        .db
        .write(move |tx| actions::update(tx, &asked, &directory, iid, one.note_id, &change.body.0));
    let sender = Sender { grant: &grant, caller: call.caller.user()?, seen: None };
    Ok(match said(&app, &sender, changed.await?).await? {
        NoteResultEntity::Note(note) => Either::Left(Json(*note)),
        NoteResultEntity::Commands(done) => Either::Right(AcceptedWith(done)),
    })
}

/// What came of it, once its quick actions are done.
pub(super) async fn said<A: OnItems>(
    app: &App,
    sender: &Sender<'_, A>,
    said: NoteResult,
) -> Result<NoteResultEntity> {
    let (said, urls) = (A::finish(app, sender, said).await?, app.urls.clone());
    app.db.read(move |tx| NoteResultEntity::new(tx, &urls, said)).await
}

pub(super) async fn remove<A: OnItems>(
    app: App,
    call: Call<A, (A::Path, OneNote)>,
) -> ApiResult<NoContent>
where
    Grant<A>: ParticipationGrant,
{
    let since = call.unmodified_since();
    let (grant, (path, one)) = (call.grant, call.params);
    let directory = Directory::new(&app.urls);
    let done = app
        .db
        .write(move |tx| actions::remove(tx, &grant, &directory, path.iid(), one.note_id, since));
    done.await?;
    Ok(NoContent)
}
