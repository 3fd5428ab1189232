//! Reactions to issues, merge requests and comments on them.

use admin::flags::Flag;
use db::Tx;
use kernel::{Result, TextEnum as _, ids::NoteId};
use review::{
    emoji::{
        AwardedKind,
        event::{Event, Fact},
    },
    item::ItemKind,
    note::{Note, NoteStore as _},
};

use super::note::note_subject;
use crate::{
    integration::EventTraits,
    webhook::{
        announcer::{Announcer, News},
        gaps::Gaps,
        payload::{emoji, note},
    },
};

pub(super) fn on_event(tx: &mut Tx<'_>, by: &Announcer, fact: &Event) -> Result<()> {
    let (fact, action) = match fact {
        Event::AwardGiven(fact) => (fact, "award"),
        Event::AwardTakenBack(fact) => (fact, "revoke"),
    };
    let Some(project) = fact.project else { return Ok(()) };
    let flags = [Flag::Emoji];
    let Some((context, mut audience)) = by.place(tx, project, &flags)? else { return Ok(()) };
    let Some((kind, item, note)) = awarded(tx, fact)? else { return Ok(()) };
    let Some((subject, gaps)) = note_subject(tx, &context, kind, item)? else { return Ok(()) };
    // The payload says all that is confidential: it is for those alone who asked for that.
    match &note {
        Some(note) if note::is_confidential(note, &subject) => {
            audience.retain_hearers(Flag::ConfidentialNotes);
        }
        None if subject.is_confidential() => audience.retain_hearers(Flag::ConfidentialIssues),
        _ => {}
    }
    let position = note.as_ref().and_then(|note| note.position.as_deref());
    let news = News {
        flag: Flag::Emoji,
        header: "Emoji Hook",
        project: Some(project),
        object: format!("award/{}/{}", fact.awarded_kind.as_str(), fact.awarded),
        payload: emoji::emoji(tx, &context, fact, (&subject, note.as_ref()), action)?,
        gaps: Gaps::note(gaps, project, position, "/note"),
    };
    by.tell(tx, &audience, news, &EventTraits::default())
}

/// The issue or merge request that is reacted to, or whose comment is; nothing for epics.
fn awarded(tx: &mut Tx<'_>, fact: &Fact) -> Result<Option<(ItemKind, i64, Option<Note>)>> {
    Ok(match fact.awarded_kind {
        AwardedKind::Issue => Some((ItemKind::Issue, fact.awarded, None)),
        AwardedKind::MergeRequest => Some((ItemKind::MergeRequest, fact.awarded, None)),
        AwardedKind::Epic => None,
        AwardedKind::Note => {
            let row = tx.notes_by_id(&[NoteId(fact.awarded)])?.pop();
            row.map(|row| (row.item_kind, row.item_id, Some(row)))
        }
    })
}
