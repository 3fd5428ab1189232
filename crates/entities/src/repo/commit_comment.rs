//! Comments on commits.

use forge::urls::Urls;
use kernel::Ts;
use org::user::User;
use repo::commit::note::{CommitNote, LineType};
use serde::Serialize;
use utoipa::ToSchema;

use crate::org::brief_user::BriefUser;

#[derive(Debug, Serialize, ToSchema)]
pub struct CommitCommentEntity {
    pub note: String,
    /// Path of the commented file; null for comments on the whole commit.
    pub path: Option<String>,
    pub line: Option<i64>,
    #[schema(value_type = Option<String>)]
    pub line_type: Option<LineType>,
    /// Null when the user has been deleted.
    pub author: Option<BriefUser>,
    #[schema(value_type = String)]
    pub created_at: Ts,
}

impl CommitCommentEntity {
    pub fn new(urls: &Urls, note: CommitNote, author: Option<&User>) -> Self {
        Self {
            note: note.note,
            path: note.path,
            line: note.line,
            line_type: note.line_type,
            author: author.map(|author| BriefUser::new(urls, author)),
            created_at: note.created_at,
        }
    }
}
