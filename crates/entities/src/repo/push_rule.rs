//! Push rules.

use kernel::Ts;
use repo::push_rule::{PushRule, Terms};
use serde::Serialize;
use utoipa::ToSchema;

/// Push rules of a group or of the instance.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct GroupPushRuleEntity {
    pub id: i64,
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Ts,
    pub commit_message_regex: Option<String>,
    pub commit_message_negative_regex: Option<String>,
    pub branch_name_regex: Option<String>,
    pub author_email_regex: Option<String>,
    pub file_name_regex: Option<String>,
    pub deny_delete_tag: bool,
    pub member_check: bool,
    pub prevent_secrets: bool,
    pub max_file_size: i64,
    #[serde(flatten)]
    pub checks: Checks,
}

/// Push rules of a project.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ProjectPushRuleEntity {
    pub id: i64,
    pub project_id: Option<i64>,
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Ts,
    pub commit_message_regex: Option<String>,
    pub commit_message_negative_regex: Option<String>,
    pub branch_name_regex: Option<String>,
    pub deny_delete_tag: bool,
    pub member_check: bool,
    pub prevent_secrets: bool,
    pub author_email_regex: Option<String>,
    pub file_name_regex: Option<String>,
    pub max_file_size: i64,
    #[serde(flatten)]
    pub checks: Checks,
}

/// Checks that inherit the instance's setting when null.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
pub struct Checks {
    pub commit_committer_check: bool,
    pub commit_committer_name_check: bool,
    pub reject_unsigned_commits: bool,
    pub reject_non_dco_commits: bool,
}

impl Checks {
    fn of(terms: &Terms) -> Self {
        Self {
            commit_committer_check: terms.commit_committer_check.unwrap_or_default(),
            commit_committer_name_check: terms.commit_committer_name_check.unwrap_or_default(),
            reject_unsigned_commits: terms.reject_unsigned_commits.unwrap_or_default(),
            reject_non_dco_commits: terms.reject_non_dco_commits.unwrap_or_default(),
        }
    }
}

impl From<PushRule> for GroupPushRuleEntity {
    fn from(rule: PushRule) -> Self {
        let terms = rule.terms;
        Self {
            id: rule.id.0,
            created_at: rule.created_at,
            checks: Checks::of(&terms),
            commit_message_regex: terms.commit_message_regex,
            commit_message_negative_regex: terms.commit_message_negative_regex,
            branch_name_regex: terms.branch_name_regex,
            author_email_regex: terms.author_email_regex,
            file_name_regex: terms.file_name_regex,
            deny_delete_tag: terms.deny_delete_tag,
            member_check: terms.member_check,
            prevent_secrets: terms.prevent_secrets,
            max_file_size: terms.max_file_size,
        }
    }
}

impl From<PushRule> for ProjectPushRuleEntity {
    fn from(rule: PushRule) -> Self {
        let terms = rule.terms;
        Self {
            id: rule.id.0,
            project_id: rule.project_id.map(|id| id.0),
            created_at: rule.created_at,
            checks: Checks::of(&terms),
            commit_message_regex: terms.commit_message_regex,
            commit_message_negative_regex: terms.commit_message_negative_regex,
            branch_name_regex: terms.branch_name_regex,
            deny_delete_tag: terms.deny_delete_tag,
            member_check: terms.member_check,
            prevent_secrets: terms.prevent_secrets,
            author_email_regex: terms.author_email_regex,
            file_name_regex: terms.file_name_regex,
            max_file_size: terms.max_file_size,
        }
    }
}
