//! Reactions to issues, merge requests, epics and their notes.

use entities::review::award_emoji::AwardEntity;
use forge::ports::directory::Directory;
use kernel::{Grant, ids::NoteId};
use review::{
    emoji::actions,
    item::{ParticipationGrant, ReadItemsGrant},
    policy::{
        CreateIssues, DiscussEpics, ReadEpicNotes, ReadGroupEpics, ReadIssues, ReadMergeRequests,
        TakePartInMergeRequests,
    },
};

use super::item_params::{NamesItem, OnItems};
use crate::{
    app::App,
    error::ApiResult,
    extract::Call,
    params,
    present::{Created, Json, NoContent, PagedList},
    routes,
};

routes! { "Award emoji" at "/projects/{id}";
    GET    "/issues/{issue_iid}/award_emoji"                               => list   : ReadIssues,
    POST   "/issues/{issue_iid}/award_emoji"                               => create : CreateIssues,
    GET    "/issues/{issue_iid}/award_emoji/{award_id}"                    => show   : ReadIssues,
    DELETE "/issues/{issue_iid}/award_emoji/{award_id}"                    => remove : CreateIssues,
    GET    "/issues/{issue_iid}/notes/{note_id}/award_emoji"               => list   : ReadIssues,
    POST   "/issues/{issue_iid}/notes/{note_id}/award_emoji"               => create : CreateIssues,
    GET    "/issues/{issue_iid}/notes/{note_id}/award_emoji/{award_id}"    => show   : ReadIssues,
    DELETE "/issues/{issue_iid}/notes/{note_id}/award_emoji/{award_id}"    => remove : CreateIssues,
    GET    "/merge_requests/{merge_request_iid}/award_emoji"               => list   : ReadMergeRequests,
    POST   "/merge_requests/{merge_request_iid}/award_emoji"               => create : TakePartInMergeRequests,
    GET    "/merge_requests/{merge_request_iid}/award_emoji/{award_id}"    => show   : ReadMergeRequests,
    DELETE "/merge_requests/{merge_request_iid}/award_emoji/{award_id}"    => remove : TakePartInMergeRequests,
    GET    "/merge_requests/{merge_request_iid}/notes/{note_id}/award_emoji"            => list   : ReadMergeRequests,
    POST   "/merge_requests/{merge_request_iid}/notes/{note_id}/award_emoji"            => create : TakePartInMergeRequests,
    GET    "/merge_requests/{merge_request_iid}/notes/{note_id}/award_emoji/{award_id}" => show   : ReadMergeRequests,
    DELETE "/merge_requests/{merge_request_iid}/notes/{note_id}/award_emoji/{award_id}" => remove : TakePartInMergeRequests,
}

pub mod of_epics {
    use super::{DiscussEpics, ReadEpicNotes, ReadGroupEpics, create, list, remove, show};
    use crate::routes;

    routes! { "Award emoji" at "/groups/{id}/epics/{epic_iid}";
        GET    "/award_emoji"                            => list   : ReadGroupEpics,
        POST   "/award_emoji"                            => create : DiscussEpics,
        GET    "/award_emoji/{award_id}"                 => show   : ReadGroupEpics,
        DELETE "/award_emoji/{award_id}"                 => remove : DiscussEpics,
        GET    "/notes/{note_id}/award_emoji"            => list   : ReadEpicNotes,
        POST   "/notes/{note_id}/award_emoji"            => create : DiscussEpics,
        GET    "/notes/{note_id}/award_emoji/{award_id}" => show   : ReadEpicNotes,
        DELETE "/notes/{note_id}/award_emoji/{award_id}" => remove : DiscussEpics,
    }
}

params! {
    pub struct ListAwards: paged {
        note_id: Option<NoteId>,
    }
}

params! {
    pub struct OneAward {
        note_id: Option<NoteId>,
        award_id: i64,
    }
}

params! {
    pub struct CreateAward {
        note_id: Option<NoteId>,
        /// The name of an emoji, without colons.
        name: String,
    }
}

/// The note that a path names; what comes in a query or body names none.
fn on_note(path: &str, id: Option<NoteId>) -> Option<NoteId> {
    id.filter(|_| path.contains("/notes/"))
}

async fn list<A: OnItems>(
    app: App,
    call: Call<A, (A::Path, ListAwards)>,
) -> ApiResult<PagedList<AwardEntity>>
where
    Grant<A>: ReadItemsGrant,
{
    let note = on_note(call.path(), call.params.1.note_id);
    let (grant, page, iid) = (call.grant, call.page, call.params.0.iid());
    let (directory, urls) = (Directory::new(&app.urls), app.urls.clone());
    let found = app.db.read(move |tx| {
        let awards = actions::list(tx, &grant, &directory, iid, note, page)?;
        awards.try_map_all(|awards| AwardEntity::all(tx, &urls, awards))
    });
    Ok(PagedList(found.await?))
}

async fn show<A: OnItems>(
    app: App,
    call: Call<A, (A::Path, OneAward)>,
) -> ApiResult<Json<AwardEntity>>
where
    Grant<A>: ReadItemsGrant,
{
    let note = on_note(call.path(), call.params.1.note_id);
    let (grant, (path, one)) = (call.grant, call.params);
    let (directory, urls) = (Directory::new(&app.urls), app.urls.clone());
    let found = app.db.read(move |tx| {
        let award = actions::read(tx, &grant, &directory, path.iid(), note, one.award_id)?;
        AwardEntity::one(tx, &urls, award)
    });
    Ok(Json(found.await?))
}

async fn create<A: OnItems>(
    app: App,
    call: Call<A, (A::Path, CreateAward)>,
) -> ApiResult<Created<AwardEntity>>
where
    Grant<A>: ParticipationGrant,
{
    let note = on_note(call.path(), call.params.1.note_id);
    let (grant, (path, new)) = (call.grant, call.params);
    let (directory, urls) = (Directory::new(&app.urls), app.urls.clone());
    let made = app.db.write(move |tx| {
        let award = actions::create(tx, &grant, &directory, path.iid(), note, &new.name)?;
        AwardEntity::one(tx, &urls, award)
    });
    Ok(Created(made.await?))
}

async fn remove<A: OnItems>(app: App, call: Call<A, (A::Path, OneAward)>) -> ApiResult<NoContent>
where
    Grant<A>: ParticipationGrant,
{
    let note = on_note(call.path(), call.params.1.note_id);
    let since = call.unmodified_since();
    let (grant, (path, one)) = (call.grant, call.params);
    let directory = Directory::new(&app.urls);
    let done = app.db.write(move |tx| {
        actions::remove(tx, &grant, &directory, path.iid(), note, one.award_id, since)
    });
    done.await?;
    Ok(NoContent)
}
