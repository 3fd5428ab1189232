//! Approval rules and given approvals of merge requests.

use std::sync::Arc;

use graphql::{Connection, Failure, Page, Registry, Value};
use kernel::{Result, ids::UserId};
use review::approval::RuleType;

use super::{
    approval_records::{Approvals, RuleRecord},
    items,
    loaders::ReviewLoaders,
    records::MergeRequestRecord,
};
use crate::{context::Context, people};

fn kind(of: RuleType) -> &'static str {
    match of {
        RuleType::AnyApprover => "ANY_APPROVER",
        RuleType::Regular => "REGULAR",
        RuleType::CodeOwner => "CODE_OWNER",
        RuleType::Report => "REPORT_APPROVER",
    }
}

pub(super) fn register(registry: &mut Registry<Context>) {
    registry.composed(&["MergeRequestApprovalState"]);
    registry
        .object::<RuleRecord>("ApprovalRule")
        .plain("id", |rule| rule.id.as_str().into())
        .plain("name", |rule| rule.name.as_str().into())
        .plain("type", |rule| kind(rule.rule_type).into())
        .plain("approvalsRequired", |rule| rule.required.into())
        .plain("approved", |rule| rule.approved.into())
        .plain("overridden", |rule| rule.overridden.into())
        .plain("section", |rule| rule.section.as_deref().into())
        .plain("invalid", |rule| rule.invalid.into())
        .plain("containsHiddenGroups", |rule| rule.has_hidden_groups.into())
        .plain("eligibleApprovers", |rule| {
            Value::list(rule.eligible.iter().cloned().map(people::user))
        })
        .plain("sourceRule", |rule| rule.source.clone().map(value).into())
        .lookup("approvedBy", |rule, arguments, _| async move {
            let users = rule.approved_by.iter().cloned().map(people::user).collect();
            Ok(Connection::of_list(&arguments.page()?, users).into())
        })
        .lookup("users", |rule, arguments, _| async move {
            let users = rule.users.iter().cloned().map(people::user).collect();
            Ok(Connection::of_list(&arguments.page()?, users).into())
        });
}

async fn of(
    context: &Context,
    record: &MergeRequestRecord,
) -> Result<Option<Arc<Approvals>>, Failure> {
    ReviewLoaders::of(context).approvals.load(record.row.id).await
}

pub async fn approved_by(
    context: &Context,
    record: &MergeRequestRecord,
    page: &Page,
) -> Result<Value, Failure> {
    let found = of(context, record).await?;
    let ids = found.map(|found| found.approved_by.clone()).unwrap_or_default();
    let users = items::users(context, &ids).await?;
    Ok(Connection::of_list(page, users.into_iter().map(people::user).collect()).into())
}

pub async fn required(context: &Context, record: &MergeRequestRecord) -> Result<Value, Failure> {
    Ok(of(context, record).await?.map(|found| found.required).into())
}

pub async fn left(context: &Context, record: &MergeRequestRecord) -> Result<Value, Failure> {
    Ok(of(context, record).await?.map(|found| found.left).into())
}

pub async fn state(context: &Context, record: &MergeRequestRecord) -> Result<Value, Failure> {
    let found = of(context, record).await?;
    let rules = |found: &Arc<Approvals>| Value::list(found.rules.iter().cloned().map(value));
    Ok(Value::fields(
        "MergeRequestApprovalState",
        [
            (
                "approvalRulesOverwritten",
                found.as_ref().map(|found| found.overwritten).unwrap_or_default().into(),
            ),
            ("rules", found.as_ref().map(rules).into()),
        ],
    ))
}

fn value(rule: Arc<RuleRecord>) -> Value {
    Value::object("ApprovalRule", rule)
}

pub async fn can_approve(context: &Context, record: &MergeRequestRecord) -> Result<bool, Failure> {
    Ok(of(context, record).await?.is_some_and(|found| found.can_approve))
}

/// The rules for which a user's approval counts.
///
/// # Errors
/// When the database failed.
pub async fn rules_for(
    context: &Context,
    record: &MergeRequestRecord,
    user: UserId,
) -> Result<Value, Failure> {
    let found = of(context, record).await?;
    let rules = found.iter().flat_map(|found| found.rules.iter());
    let fitting = rules
        .filter(|rule| rule.approvers.contains(&user) || rule.rule_type == RuleType::AnyApprover);
    Ok(Value::list(fitting.cloned().map(value)))
}

pub async fn has_approved(
    context: &Context,
    record: &MergeRequestRecord,
    user: UserId,
) -> Result<Value, Failure> {
    let found = of(context, record).await?;
    Ok(found.is_some_and(|found| found.approved_by.contains(&user)).into())
}
