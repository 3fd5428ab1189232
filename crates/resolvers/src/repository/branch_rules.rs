//! Rules for branches.

use std::sync::Arc;

use entities::repo::protection::{AccessLevelEntity, ProtectedBranchEntity};
use graphql::{Connection, Failure, Page, Registry, Value};
use kernel::{
    Ts,
    ids::{NamespaceId, UserId},
};
use repo::{
    policy::ReadCode,
    protection::{BranchRuleStore as _, Pattern},
};

use super::branch_approvals;
use crate::{
    context::Context,
    failure::{failure_of, visible},
    groups,
    numbered_list::NumberedList,
    people,
    projects::ProjectRecord,
    values::time,
};

/// A rule for branches of a project.
struct RuleRecord {
    project: Arc<ProjectRecord>,
    rule: Arc<ProtectedBranchEntity>,
    created_at: Ts,
    updated_at: Ts,
    matching: Option<usize>,
}

pub(super) fn register(registry: &mut Registry<Context>) {
    registry
        .object::<RuleRecord>("BranchRule")
        .lookup("approvalRules", |record: Arc<RuleRecord>, arguments, context| async move {
            let RuleRecord { project, rule, .. } = &*record;
            branch_approvals::of_branch_rule(&context, project, rule.id, &arguments).await
        })
        .plain("branchProtection", |record| Value::object("BranchProtection", record.rule.clone()))
        .plain("createdAt", |record| time(record.created_at))
        .plain("isDefault", |record| {
            (record.project.facts.default_branch.as_ref() == Some(&record.rule.name)).into()
        })
        .plain("isProtected", |_| true.into())
        .plain("matchingBranchesCount", |record| record.matching.unwrap_or_default().into())
        .plain("name", |record| record.rule.name.as_str().into())
        .plain("updatedAt", |record| time(record.updated_at));
    registry
        .object::<ProtectedBranchEntity>("BranchProtection")
        .plain("allowForcePush", |rule| rule.allow_force_push.into())
        .plain("codeOwnerApprovalRequired", |rule| rule.code_owner_approval_required.into())
        .lookup("mergeAccessLevels", |rule, arguments, _| async move {
            levels(&arguments.page()?, "MergeAccessLevel", &rule.merge_access_levels)
        })
        .lookup("pushAccessLevels", |rule, arguments, _| async move {
            levels(&arguments.page()?, "PushAccessLevel", &rule.push_access_levels)
        })
        .lookup("unprotectAccessLevels", |rule, arguments, _| async move {
            levels(&arguments.page()?, "UnprotectAccessLevel", &rule.unprotect_access_levels)
        });
    for type_name in ["MergeAccessLevel", "PushAccessLevel", "UnprotectAccessLevel"] {
        registry
            .object::<AccessLevelEntity>(type_name)
            .plain("accessLevel", |level| level.access_level.unwrap_or(MAINTAINER).into())
            .plain("accessLevelDescription", |level| level.access_level_description.as_str().into())
            .lookup("group", |level: Arc<AccessLevelEntity>, _, context| async move {
                match level.group_id {
                    Some(id) => groups::of_id(&context, NamespaceId(id)).await,
                    None => Ok(Value::Null),
                }
            })
            .lookup("user", |level, _, context| async move {
                match level.user_id {
                    Some(id) => people::of_id(&context, UserId(id)).await,
                    None => Ok(Value::Null),
                }
            });
    }
}

/// The level that records of users and groups have in other products.
const MAINTAINER: i32 = 40;

fn levels(
    page: &Page,
    type_name: &'static str,
    levels: &[AccessLevelEntity],
) -> Result<Value, Failure> {
    let levels = levels.iter().map(|level| Value::object(type_name, Arc::new(level.clone())));
    Ok(Connection::of_list(page, levels.collect()).into())
}

/// The rules of a project.
///
/// # Errors
/// When the database or the repository failed.
pub(in super::super) async fn branch_rules(
    context: &Context,
    record: &Arc<ProjectRecord>,
    page: &Page,
    with_matches: bool,
) -> Result<Value, Failure> {
    let Some(grant) = visible(record.grant::<ReadCode>())? else { return Ok(Value::Null) };
    let (project, window) = (grant.project(), page.clone());
    let found = context.forge.db.read(move |tx| {
        let found =
            NumberedList::read(&window, |request| tx.branch_rule_page(project, None, request))?;
        found.try_map_all(|rules| {
            let times: Vec<(Ts, Ts)> =
                rules.iter().map(|rule| (rule.branch.created_at, rule.branch.updated_at)).collect();
            let entities = ProtectedBranchEntity::all(tx, rules)?;
            Ok::<_, kernel::Error>(entities.into_iter().zip(times).collect())
        })
    });
    let found = found.await.map_err(failure_of)?;
    let matches = match with_matches {
        true => branch_names(context, record).await?,
        false => None,
    };
    let rule = |(rule, (created_at, updated_at)): (ProtectedBranchEntity, (Ts, Ts))| {
        let matching = matches.as_ref().map(|names| {
            let pattern = Pattern::new(&rule.name);
            names.iter().filter(|name| pattern.matches(name)).count()
        });
        let project = record.clone();
        let rule = Arc::new(rule);
        let record = RuleRecord { project, rule, created_at, updated_at, matching };
        Value::object("BranchRule", Arc::new(record))
    };
    Ok(found.connection(page, rule).into())
}

/// The names of all branches; nothing where there is no repository.
async fn branch_names(
    context: &Context,
    record: &ProjectRecord,
) -> Result<Option<Vec<String>>, Failure> {
    let read = context.forge.git_read(record.id(), |reader| {
        let branches = reader.branches()?.into_iter();
        Ok(branches.map(|branch| branch.name.short().into_owned()).collect())
    });
    visible(read.await)
}
