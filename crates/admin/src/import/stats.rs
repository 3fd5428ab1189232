//! Counts of the objects that an import fetched and wrote.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

kernel::text_enum! {
    /// Kinds of imported objects, by the names under which they are counted.
    pub enum Relation {
        Label = "label",
        Milestone = "milestone",
        Collaborator = "collaborator",
        ProtectedBranch = "protected_branch",
        PullRequest = "pull_request",
        PullRequestMergedBy = "pull_request_merged_by",
        PullRequestReview = "pull_request_review",
        Issue = "issue",
        Note = "note",
        DiffNote = "diff_note",
        IssueEvent = "issue_event",
        Release = "release",
        LfsObject = "lfs_object",
        Attachment = "attachment",
    }
}

/// Numbers of what came from the source, and of what was written here, by relation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportStats {
    pub fetched: BTreeMap<String, i64>,
    pub imported: BTreeMap<String, i64>,
}

impl ImportStats {
    /// Adds what one step brought.
    pub fn count(&mut self, relation: Relation, fetched: usize, imported: usize) {
        let mut add = |all: bool, by: usize| {
            let map = if all { &mut self.fetched } else { &mut self.imported };
            let number = map.entry(relation.to_string()).or_default();
            *number = number.saturating_add(i64::try_from(by).unwrap_or(i64::MAX));
        };
        if fetched > 0 {
            add(true, fetched);
        }
        if imported > 0 {
            add(false, imported);
        }
    }
}
