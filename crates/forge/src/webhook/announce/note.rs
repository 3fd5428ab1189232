//! Comments on issues and merge requests.

use admin::flags::Flag;
use db::Tx;
use kernel::{
    Result,
    ids::{NoteId, ProjectId, UserId},
};
use review::{
    issue::IssueStore as _,
    item::ItemKind,
    merge_request::MergeRequestStore as _,
    note::{NoteStore as _, event::Event as Fact},
};

use crate::{
    integration::EventTraits,
    webhook::{
        announcer::{Announcer, News},
        gaps::{Gaps, NOTE_PLACE},
        payload::{ProjectContext, issue, merge_request, note},
    },
};

pub(super) fn on_event(tx: &mut Tx<'_>, by: &Announcer, fact: &Fact) -> Result<()> {
    let (fact, action) = match fact {
        Fact::NoteCreated(fact) => (fact, "create"),
        Fact::NoteUpdated(fact) => (fact, "update"),
        Fact::NoteDeleted(_) => return Ok(()),
    };
    let Some(project) = fact.project else { return Ok(()) };
    tell_note(tx, by, (project, fact.note), (fact.item_kind, fact.item), (fact.user, action))
}

fn tell_note(
    tx: &mut Tx<'_>,
    by: &Announcer,
    (project, id): (ProjectId, NoteId),
    (kind, item): (ItemKind, i64),
    who: (UserId, &str),
) -> Result<()> {
    let flags = [Flag::Notes, Flag::ConfidentialNotes];
    let Some((context, audience)) = by.place(tx, project, &flags)? else { return Ok(()) };
    let Some(row) = tx.notes_by_id(&[id])?.pop().filter(|row| !row.is_system) else {
        return Ok(());
    };
    let Some((subject, gaps)) = note_subject(tx, &context, kind, item)? else { return Ok(()) };
    let (flag, header) = match note::is_confidential(&row, &subject) {
        true => (Flag::ConfidentialNotes, "Confidential Note Hook"),
        false => (Flag::Notes, "Note Hook"),
    };
    if !audience.hears(flag) {
        return Ok(());
    }
    let gaps = Gaps::note(gaps, project, row.position.as_deref(), NOTE_PLACE);
    let news = News {
        flag,
        header,
        project: Some(project),
        object: format!("note/{id}"),
        payload: note::note(tx, &context, &row, &subject, who)?,
        gaps,
    };
    by.tell(tx, &audience, news, &EventTraits::default())
}

/// What a comment is about, with what is to be read of it.
pub(in crate::webhook) fn note_subject(
    tx: &mut Tx<'_>,
    context: &ProjectContext,
    kind: ItemKind,
    item: i64,
) -> Result<Option<(note::Subject, Option<Gaps>)>> {
    match kind {
        ItemKind::Issue => {
            let Some(row) = tx.issues_in_order(&[item])?.pop() else { return Ok(None) };
            let part = issue::IssuePart::load(tx, row)?;
            Ok(Some((note::Subject::Issue(Box::new(part)), None)))
        }
        ItemKind::MergeRequest => {
            let Some(row) = tx.merge_requests_in_order(&[item])?.pop() else { return Ok(None) };
            let home = row.source_project_id.unwrap_or(row.project_id);
            let gaps = row.head_sha.as_deref();
            let gaps = gaps.map(|sha| Gaps::commit(home, sha, "/merge_request/last_commit"));
            let part = merge_request::MergeRequestPart::load(tx, context, row)?;
            Ok(Some((note::Subject::MergeRequest(Box::new(part)), gaps)))
        }
        ItemKind::Epic => Ok(None),
    }
}
