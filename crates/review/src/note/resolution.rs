//! Threads of merge requests are settled, and opened again.

use db::Tx;
use kernel::{
    AccessLevel, Error, Grant, Result,
    ids::{MergeRequestId, NoteId, UserId},
};

use super::{
    model::{Discussion, Note},
    reading,
    store::NoteStore as _,
    system::write_system_note,
};
use crate::{
    event::{Change, EarlierValues},
    item::{Item, ItemKind, ParticipationGrant, ReadItemsGrant, reading as items},
    merge_request,
    policy::TakePartInMergeRequests,
    ports::Forge,
};

const NOT_RESOLVABLE: &str = "Note is not resolvable";

/// Settles a thread of a merge request, or opens it again.
pub fn resolve_discussion(
    tx: &mut Tx<'_>,
    grant: &Grant<TakePartInMergeRequests>,
    forge: &impl Forge,
    iid: i64,
    id: &str,
    resolved: bool,
) -> Result<(Item, Discussion)> {
    let item = items::read(tx, grant, iid)?;
    let thread = reading::discussion(tx, grant, forge, &item, id)?;
    ensure_may_resolve(&item, grant)?;
    if !thread.is_resolvable() {
        return Err(Error::bad_request().because("Discussion is not resolvable"));
    }
    let change = |note: &&Note| note.is_resolvable() && note.is_resolved() != resolved;
    let ids: Vec<NoteId> = thread.notes.iter().filter(change).map(|note| note.id).collect();
    set(tx, &item, &ids, grant.user()?, resolved)?;
    let thread = reading::discussion(tx, grant, forge, &item, id)?;
    Ok((item, thread))
}

/// Settles one note of a thread, or opens it again.
pub fn resolve_note<G: ParticipationGrant>(
    tx: &mut Tx<'_>,
    grant: &G,
    forge: &impl Forge,
    iid: i64,
    id: NoteId,
    resolved: bool,
) -> Result<(Item, Note)> {
    let item = items::read(tx, grant, iid)?;
    let note = reading::note(tx, grant, forge, &item, id)?;
    if !note.is_resolvable() {
        return Err(Error::bad_request().because(NOT_RESOLVABLE));
    }
    ensure_may_resolve(&item, grant)?;
    if note.is_resolved() != resolved {
        set(tx, &item, &[id], grant.user()?, resolved)?;
    }
    let note = reading::note(tx, grant, forge, &item, id)?;
    Ok((item, note))
}

pub(crate) fn set(
    tx: &mut Tx<'_>,
    item: &Item,
    ids: &[NoteId],
    user: UserId,
    resolved: bool,
) -> Result<()> {
    if ids.is_empty() {
        return Ok(());
    }
    tx.save_resolved(ids, resolved.then_some(user))?;
    let open = tx.count_unresolved_threads(item.id)?;
    if open > 0 || !resolved {
        return Ok(());
    }
    write_system_note(tx, item, user, "resolved all threads")?;
    let (Some(project), ItemKind::MergeRequest) = (item.project(), item.id.kind) else {
        return Ok(());
    };
    let [before, after] = ["false", "true"].map(|text| Some(text.to_owned()));
    tx.emit(merge_request::Event::Updated {
        merge_request: MergeRequestId(item.id.id),
        project,
        user,
        changes: vec![Change { field: "blocking_discussions_resolved", before, after }],
        described: None,
        earlier: EarlierValues::default(),
    })
}

fn ensure_may_resolve<G: ReadItemsGrant>(item: &Item, grant: &G) -> Result<()> {
    let own = grant.actor().id == Some(item.author);
    match item.id.kind == ItemKind::MergeRequest && (own || grant.who().is(AccessLevel::Developer))
    {
        true => Ok(()),
        false => Err(Error::forbidden()),
    }
}
