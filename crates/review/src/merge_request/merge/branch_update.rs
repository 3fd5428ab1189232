//! Updates merge requests in the transaction that moves a branch. The work that needs git follows right after.

use std::fmt::Write as _;

use db::Tx;
use kernel::{
    Result,
    ids::{MergeRequestId, ProjectId, UserId},
};

use super::{
    AutoMerge, MergeabilityStore as _,
    auto::{self, Reason},
};
use crate::{
    merge_request::{
        Columns, MergeRequest, MergeRequestStore as _, change,
        draft::{drafted, is_draft},
    },
    note::write_system_note,
    todo::TodoStore as _,
};

/// A branch and where it goes; `None` where it goes away.
#[derive(Clone, Copy, Debug)]
pub struct BranchMove<'a> {
    pub project: ProjectId,
    pub branch: &'a str,
    pub to: Option<&'a str>,
}

/// Lets merge requests follow a branch. Tells whether there were any.
pub fn note(tx: &mut Tx<'_>, moved: BranchMove<'_>, by: Option<UserId>) -> Result<bool> {
    let BranchMove { project, branch, to } = moved;
    let from = tx.open_merge_requests_from(project, branch)?;
    for row in &from {
        match to {
            // What git merges in this moment is looked at again should it not be merged then.
            None => drop(change::close(tx, row.clone(), by.unwrap_or(row.author_id))?),
            Some(head) => follow(tx, row, head, by)?,
        }
    }
    let is_target = tx.is_target(project, branch)?;
    if is_target {
        tx.forget_looks_into(project, branch)?;
        for row in auto::waiting_into(tx, project, branch)? {
            auto::end(tx, &row, by.unwrap_or(row.author_id), Reason::TargetMoved)?;
        }
    } else if to.is_none() {
        tx.forget_target(project, branch)?;
    }
    Ok(!from.is_empty() || is_target)
}

/// The source has another head: where it left the target is not known until git has looked.
fn follow(tx: &mut Tx<'_>, row: &MergeRequest, head: &str, by: Option<UserId>) -> Result<()> {
    if row.head_sha.as_deref() == Some(head) {
        return Ok(());
    }
    let actor = by.unwrap_or(row.author_id);
    if AutoMerge::of(row).is_some_and(|wish| wish.sha.as_deref() != Some(head)) {
        auto::end(tx, row, actor, Reason::SourceMoved)?;
    }
    let columns = Columns {
        head_sha: Some(Some(head.to_owned())),
        base_sha: Some(None),
        start_sha: Some(None),
        merge_error: Some(None),
        updated_at: Some(tx.now),
        ..Columns::default()
    };
    tx.change_merge_request(row.id, &columns)?;
    tx.forget_look(row)?;
    tx.finish_todos(row.id.into(), actor)
}

/// A commit that came to a merge request.
#[derive(Clone, Debug)]
pub struct PushedCommit {
    /// The digits that people are shown.
    pub short: String,
    pub message: String,
}

/// How a commit begins that is to be folded into another one before anybody merges it.
const TO_BE_FOLDED: [&str; 2] = ["fixup! ", "squash! "];
/// So many commits are told one by one.
const MOST_TOLD: usize = 100;

/// Tells which commits came, newest first. Some of them make a draft of the merge request.
pub fn tell(
    tx: &mut Tx<'_>,
    id: MergeRequestId,
    by: UserId,
    arrived: &[PushedCommit],
) -> Result<()> {
    let row = tx.merge_request(id)?;
    if !arrived.is_empty() {
        write_system_note(tx, &row.item(), by, &added(arrived))?;
    }
    let Some(unready) = arrived.iter().find(|commit| makes_draft(&commit.message)) else {
        return Ok(());
    };
    if row.draft {
        return Ok(());
    }
    let title = Some(drafted(&row.title));
    let columns = Columns { title, draft: Some(true), ..Columns::default() };
    let row = tx.change_merge_request(id, &columns)?;
    let text = format!("marked this merge request as **draft** from {}", unready.short);
    write_system_note(tx, &row.item(), by, &text)
}

fn added(arrived: &[PushedCommit]) -> String {
    let (count, word) = (arrived.len(), if arrived.len() == 1 { "commit" } else { "commits" });
    let mut text = format!("added {count} {word}\n");
    for commit in arrived.iter().take(MOST_TOLD).rev() {
        let title = commit.message.lines().next().unwrap_or_default();
        // Writing to a String cannot fail.
        let _ = write!(text, "\n* {} - {title}", commit.short);
    }
    text
}

/// Whether a commit with this message makes a draft of a merge request that gets it.
fn makes_draft(message: &str) -> bool {
    let title = message.lines().next().unwrap_or_default();
    is_draft(message) || TO_BE_FOLDED.iter().any(|word| title.contains(word))
}

#[cfg(test)]
mod tests {
    use super::{PushedCommit, added, makes_draft};

    #[test]
    fn some_commits_make_a_draft() {
        for message in ["draft: a", "[Draft] a\n\nb", "fixup! a", "Say squash! b"] {
            assert!(makes_draft(message), "{message}");
        }
        for message in ["A", "fixup!a", "A\n\nfixup! b", "Squash all"] {
            assert!(!makes_draft(message), "{message}");
        }
    }

    #[test]
    fn commits_are_told_in_the_order_in_which_they_were_made() {
        let commit = |short: &str, message: &str| PushedCommit {
            short: short.to_owned(),
            message: message.to_owned(),
        };
        let one = [commit("aaaaaaaa", "First\n\nBody")];
        assert_eq!(added(&one), "added 1 commit\n\n* aaaaaaaa - First");
        let two = [commit("bbbbbbbb", "Second"), commit("aaaaaaaa", "First")];
        assert_eq!(added(&two), "added 2 commits\n\n* aaaaaaaa - First\n* bbbbbbbb - Second");
    }
}
