//! The diff of one file in commits, comparisons and merge requests.

use repo::git::FileDiff;
use serde::Serialize;
use utoipa::ToSchema;

#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct DiffEntity {
    /// Unified diff from the first hunk on. Empty for binary files and for diffs over the size limit.
    pub diff: String,
    pub new_path: String,
    pub old_path: String,
    pub a_mode: &'static str,
    pub b_mode: &'static str,
    pub new_file: bool,
    pub renamed_file: bool,
    pub deleted_file: bool,
}

impl From<&FileDiff> for DiffEntity {
    fn from(file: &FileDiff) -> Self {
        Self {
            diff: file.text.to_string(),
            new_path: file.new_path.to_text().into_owned(),
            old_path: file.old_path.to_text().into_owned(),
            a_mode: file.a_mode(),
            b_mode: file.b_mode(),
            new_file: file.is_new(),
            renamed_file: file.is_renamed(),
            deleted_file: file.is_deleted(),
        }
    }
}

impl DiffEntity {
    /// As other tools expect it: the names of both sides before the hunks.
    pub fn unified(file: &FileDiff) -> Self {
        let mut entity = Self::from(file);
        if entity.diff.is_empty() {
            return entity;
        }
        let side = |there: bool, prefix: &str, path: &str| match there {
            true => format!("{prefix}/{path}"),
            false => "/dev/null".to_owned(),
        };
        let before = side(!entity.new_file, "a", &entity.old_path);
        let after = side(!entity.deleted_file, "b", &entity.new_path);
        entity.diff = format!("--- {before}\n+++ {after}\n{}", entity.diff);
        entity
    }
}
