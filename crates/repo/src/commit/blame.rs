//! The authors of the lines of a file at a commit, cached for each file.

use std::sync::Arc;

use kernel::Result;

use super::Answers;
use crate::git::{
    Git, Oid, RepoPath, TreePath,
    blame::{self, Blame, LineRange},
};

pub async fn of_file(
    git: &Git,
    repo: &RepoPath,
    answers: &Answers,
    at: Oid,
    path: &TreePath,
    lines: Option<LineRange>,
) -> Result<Arc<Blame>> {
    if let Some(known) = answers.blame(at, path, lines) {
        return Ok(known);
    }
    let found = Arc::new(blame::blame(git, repo, at, path, lines).await?);
    answers.keep_blame(at, path, lines, &found);
    Ok(found)
}

/// The lines of a text, without their ends. What follows the last end is a line only when there is something.
pub fn lines_of(content: &[u8]) -> impl Iterator<Item = &[u8]> {
    let whole = content.strip_suffix(b"\n").unwrap_or(content);
    let lines = if content.is_empty() { None } else { Some(whole.split(|byte| *byte == b'\n')) };
    lines.into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::lines_of;

    #[test]
    fn lines_are_bytes_and_the_last_needs_no_end() {
        for (content, lines) in [
            (&b""[..], &[][..]),
            (b"\n", &[&b""[..]][..]),
            (b"a\r\n\nb", &[b"a\r", b"", b"b"]),
            (b"\xe9\n\n", &[b"\xe9", b""]),
        ] {
            assert_eq!(lines_of(content).collect::<Vec<_>>(), lines, "{content:?}");
        }
    }
}
