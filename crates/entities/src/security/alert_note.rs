//! System notes of an alert.

use db::Tx;
use forge::urls::Urls;
use kernel::{Result, Ts};
use org::user::store::UserStore as _;
use security::alert::{AlertNote, NoteKind};
use serde::Serialize;
use utoipa::ToSchema;

use crate::org::brief_user::BriefUser;

#[derive(Debug, Serialize, ToSchema)]
pub struct AlertNoteEntity {
    pub id: i64,
    pub body: String,
    /// Null where the installation itself did it.
    pub author: Option<BriefUser>,
    #[schema(value_type = String)]
    pub created_at: Ts,
    pub system: bool,
    #[schema(value_type = String)]
    pub kind: NoteKind,
}

impl AlertNoteEntity {
    pub fn load(tx: &mut Tx<'_>, urls: &Urls, notes: Vec<AlertNote>) -> Result<Vec<Self>> {
        let authors: Vec<_> = notes.iter().filter_map(|note| note.author_id).collect();
        let people = tx.users_by_id(&authors)?;
        let shown = |note: AlertNote| Self {
            id: note.id.0,
            body: note.body,
            author: note
                .author_id
                .and_then(|author| people.get(&author))
                .map(|user| BriefUser::new(urls, user)),
            created_at: note.created_at,
            system: note.kind.is_system(),
            kind: note.kind,
        };
        Ok(notes.into_iter().map(shown).collect())
    }
}
