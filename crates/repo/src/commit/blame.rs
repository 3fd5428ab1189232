//! Who wrote which lines, asked once for every file as it is at a commit.

use std::sync::Arc;

use kernel::Result;

use super::Answers;
use crate::git::{
    Git, Oid, RepoPath, TreePath,
    blame::{self, BlameRange, LineRange},
};

/// Of what git prints.
const MOST_BYTES: u64 = 64 << 20;

pub async fn of_file(
    git: &Git,
    repo: &RepoPath,
    answers: &Answers,
    at: Oid,
    path: &TreePath,
    lines: Option<LineRange>,
) -> Result<Arc<Vec<BlameRange>>> {
    if let Some(known) = answers.blame(at, path, lines) {
        return Ok(known);
    }
    let ranges = Arc::new(blame::blame(git, repo, at, path, lines, MOST_BYTES).await?);
    answers.keep_blame(at, path, lines, &ranges);
    Ok(ranges)
}
