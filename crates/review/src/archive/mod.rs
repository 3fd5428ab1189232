//! Issues, merge requests and related records in archives of projects and groups.

mod boards;
mod choices;
mod counters;
mod group;
mod item_parts;
mod items;
mod merge_requests;
mod planning;

use db::archive::Relation;

pub use counters::restore_counters;

/// Of projects, each after those that it names. Rules for branches come before them.
pub static PROJECT: &[&Relation] = &[
    &planning::LABELS,
    &planning::LABEL_PRIORITIES,
    &planning::MILESTONES,
    &items::ISSUES,
    &items::MERGE_REQUESTS,
    &items::NOTES,
    &item_parts::LABELS,
    &item_parts::ASSIGNEES,
    &item_parts::PARTICIPANTS,
    &item_parts::MENTIONS,
    &item_parts::AWARDS,
    &item_parts::TIME_LOGS,
    &item_parts::EVENTS,
    &item_parts::ISSUE_LINKS,
    &merge_requests::VERSIONS,
    &merge_requests::REVIEWERS,
    &merge_requests::APPROVALS,
    &merge_requests::COMMITTERS,
    &merge_requests::COMMITS,
    &merge_requests::CONTEXT_COMMITS,
    &merge_requests::CLOSES,
    &merge_requests::APPROVAL_SETTINGS,
    &merge_requests::RULES,
    &merge_requests::RULES_OF_MERGE_REQUESTS,
    &merge_requests::RULE_PEOPLE,
    &merge_requests::RULE_BRANCHES,
    &merge_requests::USED_RULES,
    &boards::BOARDS,
    &boards::BOARD_LABELS,
    &boards::PLAIN_LISTS,
    &boards::LABEL_LISTS,
    &boards::ASSIGNEE_LISTS,
    &boards::MILESTONE_LISTS,
];

/// Of groups.
pub static GROUP: &[&Relation] =
    &[&group::LABELS, &group::MILESTONES, &group::CADENCES, &group::ITERATIONS, &group::EPICS];
