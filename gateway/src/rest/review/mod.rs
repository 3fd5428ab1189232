//! Issues, epics, merge requests, and what is said about them.

use crate::resources;

pub mod approval_params;
pub mod board_params;
pub mod epic_params;
pub mod issue_list_params;
pub mod issue_params;
pub mod item_list_params;
pub mod item_params;
pub mod label_params;
pub mod merge_request_list_params;
pub mod merge_request_params;
pub mod milestone_params;
pub mod note_params;

resources! {
    approval_rules,
    approvals,
    award_emoji { self, of_epics },
    boards,
    discussions,
    epic_boards,
    epic_children,
    epic_issues,
    epic_notes { self, discussions },
    epics,
    issue_links,
    issue_lists,
    issue_merge_requests,
    issue_moves,
    issues,
    iterations,
    labels,
    merge_request_approval_rules,
    merge_request_approvals,
    merge_request_contents,
    merge_request_context,
    merge_request_lists,
    merge_request_merging,
    merge_request_people,
    merge_request_relations,
    merge_requests,
    milestone_items,
    milestones,
    notes,
    resource_events,
    time_tracking,
    todos,
}
