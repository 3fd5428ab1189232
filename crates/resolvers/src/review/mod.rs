//! Issues, merge requests, epics, iterations, and what is said and done about them.

pub mod approval_records;
pub mod approvals;
mod award_mutations;
pub mod awards;
pub mod epic;
mod epic_issues;
pub mod epic_mutations;
pub mod issue;
pub mod issue_filter;
mod issue_input;
pub mod issue_lists;
pub mod issue_mutations;
pub mod item_filter;
pub mod item_pages;
pub mod item_values;
pub mod items;
pub mod iteration_mutations;
pub mod loaders;
pub mod merge_request;
pub mod merge_request_git;
pub mod merge_request_lists;
pub mod merge_request_mutations;
pub mod merge_request_people;
pub mod note_mutations;
mod note_values;
pub mod notes;
pub mod records;
pub mod scope;
mod speaker;
pub mod timelogs;
pub mod todos;
pub mod work_items;

use graphql::Registry;

use super::context::Context;

pub(super) fn register(registry: &mut Registry<Context>) {
    issue::register(registry);
    issue_lists::register(registry);
    issue_mutations::register(registry);
    merge_request::register(registry);
    merge_request_lists::register(registry);
    merge_request_people::register(registry);
    merge_request_mutations::register(registry);
    approvals::register(registry);
    notes::register(registry);
    note_mutations::register(registry);
    award_mutations::register(registry);
    awards::register(registry);
    todos::register(registry);
    timelogs::register(registry);
    epic::register(registry);
    epic_mutations::register(registry);
    iteration_mutations::register(registry);
    work_items::register(registry);
}
