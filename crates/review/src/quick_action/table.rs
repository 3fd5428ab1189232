//! Every quick action: what it is called, where it can be used, and who may use it.

use crate::item::ItemKind;

/// The effect of a quick action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    Close,
    Reopen,
    Title,
    Assign,
    Reassign,
    Unassign,
    AssignReviewer,
    UnassignReviewer,
    Label,
    Relabel,
    Unlabel,
    Milestone,
    RemoveMilestone,
    Todo,
    Done,
    Subscribe,
    Unsubscribe,
    Award,
    Estimate,
    RemoveEstimate,
    Spend,
    RemoveTimeSpent,
    Relate,
    Blocks,
    BlockedBy,
    Move,
    Clone,
    Lock,
    Unlock,
    CopyMetadata,
    Due,
    RemoveDueDate,
    Confidential,
    Weight,
    ClearWeight,
    Severity,
    HealthStatus,
    ClearHealthStatus,
    Promote,
    Epic,
    RemoveEpic,
    Iteration,
    RemoveIteration,
    Draft,
    Ready,
    Merge,
    Rebase,
    Approve,
    Unapprove,
    TargetBranch,
    SubmitReview,
    Duplicate,
    CreateMergeRequest,
    Shrug,
    Tableflip,
}

/// The kinds of items that a quick action applies to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ActionScope {
    Both,
    Issues,
    MergeRequests,
}

/// The permission that a quick action requires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Needs {
    /// Whoever may comment.
    Voice,
    /// Whoever may change the words and the state.
    Update,
    /// Whoever may give it labels and people.
    Manage,
}

/// Whether something follows the name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Argument {
    No,
    Maybe,
    Yes,
}

pub(super) struct Row {
    pub(super) effect: Effect,
    pub(super) names: &'static [&'static str],
    pub(super) on: ActionScope,
    pub(super) needs: Needs,
    pub(super) argument: Argument,
}

macro_rules! rows { ($($effect:ident [$($name:literal)+] $on:ident $needs:ident $argument:ident);* $(;)?) => {
    &[$(Row {
        effect: Effect::$effect,
        names: &[$($name),+],
        on: ActionScope::$on,
        needs: Needs::$needs,
        argument: Argument::$argument,
    }),*]
} }

pub(super) static TABLE: &[Row] = rows! {
    Close             ["close"]                                             Both          Update No;
    Reopen            ["reopen"]                                            Both          Update No;
    Title             ["title"]                                             Both          Update Yes;
    Assign            ["assign"]                                            Both          Manage Yes;
    Reassign          ["reassign"]                                          Both          Manage Yes;
    Unassign          ["unassign" "remove_assignee"]                        Both          Manage Maybe;
    AssignReviewer    ["assign_reviewer" "reviewer" "request_review"]       MergeRequests Manage Yes;
    UnassignReviewer  ["unassign_reviewer" "remove_reviewer"]               MergeRequests Manage Maybe;
    Label             ["label" "labels"]                                    Both          Manage Yes;
    Relabel           ["relabel"]                                           Both          Manage Yes;
    Unlabel           ["unlabel" "remove_label" "remove_labels"]            Both          Manage Maybe;
    Milestone         ["milestone"]                                         Both          Manage Yes;
    RemoveMilestone   ["remove_milestone"]                                  Both          Manage No;
    Todo              ["todo"]                                              Both          Voice  No;
    Done              ["done"]                                              Both          Voice  No;
    Subscribe         ["subscribe"]                                         Both          Voice  No;
    Unsubscribe       ["unsubscribe"]                                       Both          Voice  No;
    Award             ["award" "react"]                                     Both          Voice  Yes;
    Estimate          ["estimate" "estimate_time"]                          Both          Manage Yes;
    RemoveEstimate    ["remove_estimate" "remove_time_estimate"]            Both          Manage No;
    Spend             ["spend" "spent" "spend_time"]                        Both          Manage Yes;
    RemoveTimeSpent   ["remove_time_spent"]                                 Both          Manage No;
    Relate            ["relate"]                                            Issues        Manage Yes;
    Blocks            ["blocks"]                                            Issues        Manage Yes;
    BlockedBy         ["blocked_by"]                                        Issues        Manage Yes;
    Move              ["move"]                                              Issues        Manage Yes;
    Clone             ["clone"]                                             Issues        Manage Yes;
    Lock              ["lock"]                                              Both          Manage No;
    Unlock            ["unlock"]                                            Both          Manage No;
    CopyMetadata      ["copy_metadata"]                                     Both          Manage Yes;
    Due               ["due" "due_date"]                                    Issues        Manage Yes;
    RemoveDueDate     ["remove_due_date"]                                   Issues        Manage No;
    Confidential      ["confidential"]                                      Issues        Manage No;
    Weight            ["weight"]                                            Issues        Manage Yes;
    ClearWeight       ["clear_weight"]                                      Issues        Manage No;
    Severity          ["severity"]                                          Issues        Manage Yes;
    HealthStatus      ["health_status"]                                     Issues        Manage Yes;
    ClearHealthStatus ["clear_health_status"]                               Issues        Manage No;
    Promote           ["promote"]                                           Issues        Manage No;
    Epic              ["epic"]                                              Issues        Manage Yes;
    RemoveEpic        ["remove_epic"]                                       Issues        Manage No;
    Iteration         ["iteration"]                                         Issues        Manage Yes;
    RemoveIteration   ["remove_iteration"]                                  Issues        Manage No;
    Draft             ["draft"]                                             MergeRequests Update No;
    Ready             ["ready"]                                             MergeRequests Update No;
    Merge             ["merge"]                                             MergeRequests Voice  No;
    Rebase            ["rebase"]                                            MergeRequests Voice  No;
    Approve           ["approve"]                                           MergeRequests Voice  No;
    Unapprove         ["unapprove"]                                         MergeRequests Voice  No;
    TargetBranch      ["target_branch"]                                     MergeRequests Update Yes;
    SubmitReview      ["submit_review"]                                     MergeRequests Voice  No;
    Duplicate         ["duplicate"]                                         Issues        Manage Yes;
    CreateMergeRequest ["create_merge_request"]                             Issues        Voice  Maybe;
    Shrug             ["shrug"]                                             Both          Voice  Maybe;
    Tableflip         ["tableflip"]                                         Both          Voice  Maybe;
};

impl Row {
    pub(super) fn is_on(&self, kind: ItemKind) -> bool {
        match self.on {
            ActionScope::Both => kind != ItemKind::Epic,
            ActionScope::Issues => kind == ItemKind::Issue,
            ActionScope::MergeRequests => kind == ItemKind::MergeRequest,
        }
    }
}

/// The quick action of that name.
pub(super) fn find(name: &str, kind: ItemKind) -> Option<&'static Row> {
    TABLE.iter().find(|row| row.names.contains(&name) && row.is_on(kind))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::TABLE;

    #[test]
    fn a_name_means_one_thing() {
        let names: Vec<_> = TABLE.iter().flat_map(|row| row.names).collect();
        let different: HashSet<_> = names.iter().collect();
        assert_eq!(names.len(), different.len());
    }
}
