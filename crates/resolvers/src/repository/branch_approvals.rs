//! Approval requirements of the branches of a rule.

use std::{collections::HashMap, sync::Arc};

use entities::review::approval_rule::ProjectRuleEntity;
use graphql::{Arguments, Connection, Failure, Registry, Value};
use kernel::{TextEnum as _, ids::ProjectId};
use review::{approval::RuleStore as _, policy::ReadApprovals};

use crate::{
    context::Context, failure::visible, loaders::BatchLoader, people, projects::ProjectRecord,
};

/// An approval rule of a project.
struct RuleRecord(Arc<Vec<ProjectRuleEntity>>, usize);

impl RuleRecord {
    fn shown(&self) -> Option<&ProjectRuleEntity> {
        self.0.get(self.1)
    }
}

/// The approval rules of projects, read once for all branch rules of a project.
struct RuleLoader(BatchLoader<ProjectId, Arc<Vec<ProjectRuleEntity>>>);

pub(super) fn register(registry: &mut Registry<Context>) {
    registry
        .object::<RuleRecord>("ApprovalProjectRule")
        .plain("approvalsRequired", |one| {
            one.shown().map(|shown| shown.rule.approvals_required).into()
        })
        .plain("id", |one| {
            one.shown().map(|shown| Value::gid("ApprovalProjectRule", shown.rule.id)).into()
        })
        .plain("name", |one| one.shown().map(|shown| shown.rule.name.as_str()).into())
        .plain("type", |one| {
            one.shown().map(|shown| shown.rule.rule_type.as_str().to_uppercase()).into()
        })
        .lookup("eligibleApprovers", |one: Arc<RuleRecord>, arguments, _| async move {
            let users = one.shown().into_iter().flat_map(|shown| &shown.rule.eligible_approvers);
            let users = users.cloned().map(people::user).collect();
            Ok(Connection::of_list(&arguments.page()?, users).into())
        });
}

/// The approval rules for merge requests into the branches of a branch rule: those that name it, and those for all
/// protected branches.
pub(super) async fn of_branch_rule(
    context: &Context,
    project: &ProjectRecord,
    branch_rule: i64,
    arguments: &Arguments,
) -> Result<Value, Failure> {
    let page = arguments.page()?;
    let Some(grant) = visible(project.grant::<ReadApprovals>())? else { return Ok(Value::Null) };
    let all = loader(context).0.load(grant.project()).await?.unwrap_or_default();
    let is_for = |rule: &ProjectRuleEntity| {
        rule.protected_branches.iter().any(|branch| branch.id == branch_rule)
    };
    let own = all.iter().enumerate().filter(|(_, rule)| is_for(rule));
    let value = |(place, _): (usize, _)| {
        Value::object("ApprovalProjectRule", Arc::new(RuleRecord(all.clone(), place)))
    };
    Ok(Connection::of_list(&page, own.map(value).collect()).into())
}

/// Whether the caller may see them is not asked.
fn loader(context: &Context) -> Arc<RuleLoader> {
    let (urls, actor) = (context.forge.urls.clone(), context.actor());
    context.loaders.of(|db| {
        RuleLoader(BatchLoader::new(db, move |tx, projects: &[ProjectId]| {
            let mut all = HashMap::new();
            for project in projects {
                let found = tx.project_rules(*project)?;
                let shown = ProjectRuleEntity::all(tx, &urls, actor, *project, &found)?;
                all.insert(*project, Arc::new(shown));
            }
            Ok(all)
        }))
    })
}
