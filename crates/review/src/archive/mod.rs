//! Issues, merge requests and related records in archives of projects and groups.

mod activity;
mod boards;
mod choices;
mod counters;
mod epic_parts;
mod group;
mod group_boards;
mod item_parts;
mod items;
mod merge_requests;
mod planning;
mod subscriptions;

use db::archive::{ArchiveRow, Relation};

pub use counters::{reserve_numbers, restore_counters};
pub use epic_parts::retain_inner_notes;

/// Of projects, each after those that it names. Rules for branches come before them.
pub static PROJECT: &[&Relation] = &[
    &planning::LABELS,
    &planning::LABEL_PRIORITIES,
    &planning::MILESTONES,
    &subscriptions::LABELS,
    &items::ISSUES,
    &items::DUPLICATES,
    &items::MERGE_REQUESTS,
    &items::NOTES,
    &item_parts::LABELS,
    &item_parts::ASSIGNEES,
    &subscriptions::ITEMS,
    &item_parts::PARTICIPANTS,
    &item_parts::MENTIONS,
    &item_parts::AWARDS,
    &item_parts::TIME_LOGS,
    &item_parts::EVENTS,
    &activity::EVENTS,
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
    &merge_requests::RULE_GROUPS,
    &merge_requests::RULE_BRANCHES,
    &merge_requests::USED_RULES,
    &boards::BOARDS,
    &boards::BOARD_LABELS,
    &boards::PLAIN_LISTS,
    &boards::LABEL_LISTS,
    &boards::ASSIGNEE_LISTS,
    &boards::MILESTONE_LISTS,
];

/// Of groups. The rows of one relation are written for all groups of an archive before those of the next one, since items
/// name others of groups above and below.
pub static GROUP: &[&Relation] = &[
    &group::LABELS,
    &subscriptions::GROUP_LABELS,
    &group::MILESTONES,
    &group::CADENCES,
    &group::ITERATIONS,
    &group::EPICS,
    &epic_parts::PARENTS,
    &epic_parts::LABELS,
    &subscriptions::EPICS,
    &epic_parts::NOTES,
    &epic_parts::PARTICIPANTS,
    &epic_parts::MENTIONS,
    &epic_parts::AWARDS,
    &activity::GROUP_EVENTS,
    &group_boards::BOARDS,
    &group_boards::EPIC_BOARDS,
    &group_boards::BOARD_LABELS,
    &group_boards::PLAIN_LISTS,
    &group_boards::LABEL_LISTS,
    &group_boards::ASSIGNEE_LISTS,
    &group_boards::MILESTONE_LISTS,
    &group_boards::ITERATION_LISTS,
];

/// The relation as whose rows those of a relation are written: groups that rules name become people.
pub fn target_of(relation: &'static Relation) -> &'static Relation {
    match relation.name {
        "approval_rule_groups" => &merge_requests::RULE_PEOPLE,
        _ => relation,
    }
}

/// Makes a row say nothing that is only true where it comes from.
pub fn correct(relation: &Relation, row: &mut ArchiveRow) {
    match relation.name {
        "events" => activity::correct(row),
        "merge_requests" => items::correct_merge_request(row),
        _ => {}
    }
}
