//! Discussions about commits, in the form of those about issues and merge requests.

use std::collections::HashMap;

use db::Tx;
use forge::urls::Urls;
use kernel::{Result, ids::UserId};
use org::user::{User, store::UserStore};
use repo::commit::{
    discussion::CommitDiscussion,
    note::{CommitNote, CommitNoteType},
};
use review::note::NoteType;
use serde_json::Map;

use crate::{
    org::brief_user::BriefUser,
    review::note::{DiscussionEntity, NoteEntity, NotePositionFields},
};

impl NoteEntity {
    pub fn of_commit(urls: &Urls, note: CommitNote, people: &HashMap<UserId, User>) -> Self {
        let position = note.position.as_deref().and_then(|text| serde_json::from_str(text).ok());
        Self {
            id: note.id.0,
            note_type: note.note_type.map(|kind| match kind {
                CommitNoteType::Discussion => NoteType::Discussion,
                CommitNoteType::Diff => NoteType::Diff,
            }),
            body: note.note,
            attachment: None,
            author: people.get(&note.author_id).map(|user| BriefUser::new(urls, user)),
            created_at: note.created_at,
            updated_at: note.updated_at,
            system: false,
            noteable_id: None,
            noteable_type: "Commit",
            project_id: Some(note.project_id.0),
            at: position.map(|position| NotePositionFields { commit_id: None, position }),
            resolvable: false,
            resolution: None,
            confidential: false,
            internal: false,
            noteable_iid: None,
            commands_changes: Map::new(),
        }
    }

    pub fn one_of_commit(tx: &mut Tx<'_>, urls: &Urls, note: CommitNote) -> Result<Self> {
        let people = tx.users_by_id(&[note.author_id])?;
        Ok(Self::of_commit(urls, note, &people))
    }
}

impl DiscussionEntity {
    /// People are looked up once for all of them.
    pub fn all_of_commit(
        tx: &mut Tx<'_>,
        urls: &Urls,
        discussions: Vec<CommitDiscussion>,
    ) -> Result<Vec<Self>> {
        let notes = discussions.iter().flat_map(|thread| &thread.notes);
        let mut people: Vec<UserId> = notes.map(|note| note.author_id).collect();
        people.sort_unstable();
        people.dedup();
        let people = tx.users_by_id(&people)?;
        let entity = |thread: CommitDiscussion| {
            let individual_note = thread.is_individual();
            let notes = thread.notes.into_iter();
            let notes = notes.map(|note| NoteEntity::of_commit(urls, note, &people)).collect();
            Self { id: thread.id, individual_note, notes }
        };
        Ok(discussions.into_iter().map(entity).collect())
    }

    pub fn one_of_commit(tx: &mut Tx<'_>, urls: &Urls, thread: CommitDiscussion) -> Result<Self> {
        Self::all_of_commit(tx, urls, vec![thread])?.pop().ok_or_else(kernel::Error::missing)
    }
}
