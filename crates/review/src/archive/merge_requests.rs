//! Records of merge requests in archives, including approvals.

use db::archive::{Column, Relation};

use super::choices::{is_one_of, is_sha};
use crate::{
    approval::{ReportType, RuleType},
    merge_request::{ReviewState, version::VersionState},
};

const OWN: &str = "merge_request_id IN \
    (SELECT merge_requests.id FROM merge_requests WHERE merge_requests.project_id = $1)";
const OF_RULES: &str = "rule_id IN \
    (SELECT approval_rules.id FROM approval_rules WHERE approval_rules.project_id = $1)";
const MERGE_REQUEST: Column = Column::row("merge_request_id", "merge_requests");
const RULE: Column = Column::row("rule_id", "approval_rules");
const APPROVER: Column = Column::author("user_id").or_zero();
/// The pattern of files, where a rule is of code owners.
const NAME: Column = Column::text("name");

pub(super) static VERSIONS: Relation = Relation {
    name: "merge_request_versions",
    table: "merge_request_versions",
    scope: OWN,
    key: &["id"],
    columns: &[
        MERGE_REQUEST,
        Column::choice("head_commit_sha", is_sha),
        Column::choice("base_commit_sha", is_sha),
        Column::choice("start_commit_sha", is_sha),
        Column::choice("state", is_one_of::<VersionState>),
        Column::count("real_size"),
        Column::moment("created_at"),
    ],
    signed: None,
};

pub(super) static REVIEWERS: Relation = Relation {
    name: "merge_request_reviewers",
    table: "merge_request_reviewers",
    scope: OWN,
    key: &["merge_request_id", "user_id"],
    columns: &[
        MERGE_REQUEST,
        Column::person("user_id"),
        Column::choice("state", is_one_of::<ReviewState>),
        Column::moment("created_at"),
    ],
    signed: None,
};

pub(super) static APPROVALS: Relation = Relation {
    name: "approvals",
    table: "approvals",
    scope: OWN,
    key: &["id"],
    columns: &[MERGE_REQUEST, Column::person("user_id"), Column::moment("created_at")],
    signed: None,
};

pub(super) static COMMITTERS: Relation = Relation {
    name: "merge_request_committers",
    table: "merge_request_committers",
    scope: OWN,
    key: &["merge_request_id", "user_id"],
    columns: &[MERGE_REQUEST, Column::person("user_id")],
    signed: None,
};

pub(super) static COMMITS: Relation = Relation {
    name: "merge_request_commits",
    table: "merge_request_commits",
    scope: OWN,
    key: &["merge_request_id", "sha"],
    columns: &[MERGE_REQUEST, Column::choice("sha", is_sha)],
    signed: None,
};

pub(super) static CONTEXT_COMMITS: Relation = Relation {
    name: "merge_request_context_commits",
    table: "merge_request_context_commits",
    scope: OWN,
    key: &["id"],
    columns: &[MERGE_REQUEST, Column::choice("sha", is_sha)],
    signed: None,
};

pub(super) static CLOSES: Relation = Relation {
    name: "merge_request_closes",
    table: "merge_request_closes",
    scope: OWN,
    key: &["merge_request_id", "issue_id"],
    columns: &[MERGE_REQUEST, Column::row("issue_id", "issues")],
    signed: None,
};

pub(super) static APPROVAL_SETTINGS: Relation = Relation {
    name: "approval_settings",
    table: "approval_settings",
    scope: "project_id = $1",
    key: &["project_id"],
    columns: &[
        Column::home("project_id"),
        Column::flag("reset_on_push"),
        Column::flag("selective_removals"),
        Column::flag("no_overriding"),
        Column::flag("author_approval"),
        Column::flag("no_committer_approval"),
        Column::flag("require_password"),
    ],
    signed: None,
};

/// Those of the project, after which its merge requests' are made.
pub(super) static RULES: Relation = Relation {
    name: "approval_rules",
    table: "approval_rules",
    scope: "project_id = $1 AND merge_request_id IS NULL",
    key: &["id"],
    columns: &[
        Column::home("project_id"),
        NAME,
        Column::choice("rule_type", is_one_of::<RuleType>),
        Column::choice("report_type", is_one_of::<ReportType>).optional(),
        Column::text("section").optional(),
        Column::count("approvals_required"),
        Column::flag("applies_to_all_protected_branches"),
        Column::moment("created_at"),
        Column::moment("updated_at"),
    ],
    signed: None,
};

pub(super) static RULES_OF_MERGE_REQUESTS: Relation = Relation {
    name: "merge_request_approval_rules",
    table: "approval_rules",
    scope: "project_id = $1 AND merge_request_id IS NOT NULL",
    key: &["id"],
    columns: &[
        Column::home("project_id"),
        MERGE_REQUEST,
        Column::row("source_rule_id", "approval_rules").optional(),
        NAME,
        Column::choice("rule_type", is_one_of::<RuleType>),
        Column::choice("report_type", is_one_of::<ReportType>).optional(),
        Column::text("section").optional(),
        Column::count("approvals_required"),
        Column::flag("applies_to_all_protected_branches"),
        Column::moment("created_at"),
        Column::moment("updated_at"),
    ],
    signed: None,
};

/// A rule that asks nobody is fulfilled: whoever imports stands for people without an account, and for groups.
pub(super) static RULE_PEOPLE: Relation = Relation {
    name: "approval_rule_users",
    table: "approval_rule_users",
    scope: OF_RULES,
    key: &["rule_id", "user_id"],
    columns: &[RULE, APPROVER],
    signed: None,
};

/// Groups that rules name are not of the project: each is somebody who is nowhere known. Rows are written among the people
/// of the rule: see [`target_of`](super::target_of).
pub(super) static RULE_GROUPS: Relation = Relation {
    name: "approval_rule_groups",
    table: "approval_rule_groups",
    scope: OF_RULES,
    key: &["rule_id", "namespace_id"],
    columns: &[RULE, APPROVER.read_as("0")],
    signed: None,
};

pub(super) static RULE_BRANCHES: Relation = Relation {
    name: "approval_rule_branches",
    table: "approval_rule_branches",
    scope: OF_RULES,
    key: &["rule_id", "protected_branch_id"],
    columns: &[RULE, Column::row("protected_branch_id", "protected_branches")],
    signed: None,
};

pub(super) static USED_RULES: Relation = Relation {
    name: "merge_request_rules",
    table: "merge_request_rules",
    scope: OWN,
    key: &["merge_request_id", "rule_id"],
    columns: &[MERGE_REQUEST, RULE],
    signed: None,
};
