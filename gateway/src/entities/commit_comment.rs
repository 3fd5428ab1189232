//! What people say about commits.

use kernel::Ts;
use org::user::User;
use repo::commit::note::{CommitNote, LineType};
use serde::Serialize;
use utoipa::ToSchema;

use super::brief_user::BriefUser;
use crate::app::Urls;

#[derive(Debug, Serialize, ToSchema)]
pub struct CommitCommentEntity {
    pub note: String,
    /// Where it is about one line that the commit changed.
    pub path: Option<String>,
    pub line: Option<i64>,
    #[schema(value_type = Option<String>)]
    pub line_type: Option<LineType>,
    /// Null when the account is gone.
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
