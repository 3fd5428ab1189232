//! Issues, epics, merge requests, and what is said about them.

use crate::route::RouteRow;

pub mod approval_params;
pub mod approval_rules;
pub mod approvals;
pub mod award_emoji;
pub mod board_params;
pub mod boards;
pub mod discussions;
pub mod epic_boards;
pub mod epic_children;
pub mod epic_issues;
pub mod epic_notes;
pub mod epic_params;
pub mod epics;
pub mod issue_links;
pub mod issue_list_params;
pub mod issue_lists;
pub mod issue_merge_requests;
pub mod issue_moves;
pub mod issue_params;
pub mod issues;
pub mod item_list_params;
pub mod item_params;
pub mod iterations;
pub mod label_params;
pub mod labels;
pub mod merge_request_approval_rules;
pub mod merge_request_approvals;
pub mod merge_request_contents;
pub mod merge_request_context;
pub mod merge_request_list_params;
pub mod merge_request_lists;
pub mod merge_request_merging;
pub mod merge_request_params;
pub mod merge_request_people;
pub mod merge_request_relations;
pub mod merge_requests;
pub mod milestone_items;
pub mod milestone_params;
pub mod milestones;
pub mod note_params;
pub mod notes;
pub mod resource_events;
pub mod time_tracking;
pub mod todos;

pub(super) const TABLES: &[&[RouteRow]] = &[
    approval_rules::ROUTES,
    approvals::ROUTES,
    award_emoji::ROUTES,
    award_emoji::of_epics::ROUTES,
    boards::ROUTES,
    discussions::ROUTES,
    epic_boards::ROUTES,
    epic_children::ROUTES,
    epic_issues::ROUTES,
    epic_notes::ROUTES,
    epic_notes::discussions::ROUTES,
    epics::ROUTES,
    issue_links::ROUTES,
    issue_lists::ROUTES,
    issue_merge_requests::ROUTES,
    issue_moves::ROUTES,
    issues::ROUTES,
    iterations::ROUTES,
    labels::ROUTES,
    merge_request_approval_rules::ROUTES,
    merge_request_approvals::ROUTES,
    merge_request_contents::ROUTES,
    merge_request_context::ROUTES,
    merge_request_lists::ROUTES,
    merge_request_merging::ROUTES,
    merge_request_people::ROUTES,
    merge_request_relations::ROUTES,
    merge_requests::ROUTES,
    milestone_items::ROUTES,
    milestones::ROUTES,
    notes::ROUTES,
    resource_events::ROUTES,
    time_tracking::ROUTES,
    todos::ROUTES,
];
