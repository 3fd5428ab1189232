//! Conditions by which lists of merge requests choose by approvals.

use std::fmt::Write as _;

use diesel::{dsl::sql, expression::SqlLiteral, sql_types::Bool};
use kernel::ids::UserId;

const APPROVED: &str =
    "SELECT 1 FROM approvals WHERE approvals.merge_request_id = merge_requests.id";

/// Rules that count for a merge request: its own where people made some, else those of its project.
const RULES: &str = "SELECT 1 FROM approval_rules AS rules \
    WHERE (rules.merge_request_id = merge_requests.id \
        OR (rules.project_id = merge_requests.project_id AND rules.merge_request_id IS NULL \
            AND NOT EXISTS (SELECT 1 FROM approval_rules AS own \
                WHERE own.merge_request_id = merge_requests.id \
                    AND own.rule_type IN ('any_approver', 'regular'))))";

/// All of these people approved.
pub fn approved_by_all(people: &[UserId]) -> SqlLiteral<Bool> {
    all(people, |user| format!("EXISTS ({APPROVED} AND approvals.user_id = {user})"))
}

/// Somebody approved, or nobody.
pub fn approved_by_anybody(wanted: bool) -> SqlLiteral<Bool> {
    sql(&format!("{} ({APPROVED})", exists(wanted)))
}

/// All of these people are among those who are to approve, named or by a group.
pub fn approvers_are(people: &[UserId]) -> SqlLiteral<Bool> {
    all(people, |user| {
        format!(
            "EXISTS ({RULES} AND (EXISTS (SELECT 1 FROM approval_rule_users AS named \
                WHERE named.rule_id = rules.id AND named.user_id = {user}) \
             OR EXISTS (SELECT 1 FROM approval_rule_groups AS groups \
                JOIN namespace_access ON namespace_access.namespace_id = groups.namespace_id \
                WHERE groups.rule_id = rules.id AND namespace_access.user_id = {user} \
                    AND namespace_access.access_level >= 10)))"
        )
    })
}

/// Somebody is named who is to approve, or nobody.
pub fn has_approvers(wanted: bool) -> SqlLiteral<Bool> {
    sql(&format!(
        "{} ({RULES} AND (EXISTS (SELECT 1 FROM approval_rule_users AS named WHERE named.rule_id = rules.id) \
            OR EXISTS (SELECT 1 FROM approval_rule_groups AS groups WHERE groups.rule_id = rules.id)))",
        exists(wanted)
    ))
}

fn exists(wanted: bool) -> &'static str {
    if wanted { "EXISTS" } else { "NOT EXISTS" }
}

/// Ids are numbers, so that they can stand in the text.
fn all(people: &[UserId], condition: impl Fn(UserId) -> String) -> SqlLiteral<Bool> {
    let mut text = "(1 = 1".to_owned();
    for user in people {
        let _infallible = write!(text, " AND {}", condition(*user));
    }
    text.push(')');
    sql(&text)
}
