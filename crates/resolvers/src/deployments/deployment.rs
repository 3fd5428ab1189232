//! Deployments.

use std::sync::Arc;

use deployments::{
    approval::{Approval, ApprovalState, ApprovalStatus},
    deployment::{Deployment, DeploymentStatus, DeploymentStore as _},
    policy::{ChangeDeployments, ReadDeployments, RemoveDeployments},
};
use graphql::{Arguments, Failure, Registry, Value};
use repo::git::Oid;

use super::loaders::DeploymentLoaders;
use crate::{
    context::Context,
    failure::{failure_of, visible},
    join::try_join_all,
    people,
    pipelines::{LocatedProject, job_of_id, name_of},
    projects::ProjectRecord,
    repository,
    values::{maybe_time, time},
};

/// A deployment of a project whose deployments the caller may see.
#[derive(Debug)]
pub(super) struct DeploymentRecord {
    home: Arc<LocatedProject>,
    row: Deployment,
}

pub(super) fn deployment(home: Arc<LocatedProject>, row: Deployment) -> Value {
    Value::object("Deployment", Arc::new(DeploymentRecord { home, row }))
}

type Record = Arc<DeploymentRecord>;

pub(super) fn register(registry: &mut Registry<Context>) {
    let _ = registry.object::<ProjectRecord>("Project").lookup(
        "deployment",
        |record: Arc<ProjectRecord>, arguments, context| async move {
            one(&LocatedProject::of(&record), &arguments, &context).await
        },
    );
    let _ = registry
        .object::<DeploymentRecord>("Deployment")
        .plain("createdAt", |record| time(record.row.created_at))
        .plain("finishedAt", |record| maybe_time(record.row.finished_at))
        .plain("id", |record| Value::gid("Deployment", record.row.id))
        .plain("iid", |record| record.row.iid.to_string().into())
        .plain("ref", |record| record.row.ref_name.as_str().into())
        .plain("sha", |record| record.row.sha.as_str().into())
        .plain("status", |record| name_of(record.row.status))
        .plain("tag", |record| record.row.tag.into())
        .plain("updatedAt", |record| time(record.row.updated_at))
        .lookup("approvals", |record: Record, _, context| async move {
            let state = state(&record, &context).await?;
            let values = state.approvals.iter().map(|one| approval(&context, one));
            Ok(Value::List(try_join_all(values).await?))
        })
        .lookup("approvalSummary", |record: Record, _, context| async move {
            Ok(summary(&*state(&record, &context).await?))
        })
        .lookup("commit", |record: Record, _, context| async move {
            repository::commit_of(&context, record.home.id(), &record.row.sha).await
        })
        .lookup("job", |record: Record, _, context| async move {
            match record.row.job_id {
                Some(id) => job_of_id(&context, id).await,
                None => Ok(Value::Null),
            }
        })
        .lookup("tags", |record: Record, _, context| async move { tags(&record, &context).await })
        .reads_git("tags")
        .once("tags")
        .lookup("triggerer", |record: Record, _, context| async move {
            match record.row.user_id {
                Some(id) => people::of_id(&context, id).await,
                None => Ok(Value::Null),
            }
        })
        .lookup("userPermissions", |record: Record, _, context| async move {
            permissions(&record, &context).await
        });
}

async fn state(
    record: &DeploymentRecord,
    context: &Context,
) -> Result<Arc<ApprovalState>, Failure> {
    Ok(DeploymentLoaders::of(context).approvals.load(record.row.id).await?.unwrap_or_default())
}

pub(super) async fn approval(context: &Context, one: &Approval) -> Result<Value, Failure> {
    let user = people::of_id(context, one.user_id).await?;
    Ok(Value::fields(
        "DeploymentApproval",
        [
            ("comment", one.comment.clone().into()),
            ("createdAt", time(one.created_at)),
            ("status", name_of(one.status)),
            ("updatedAt", time(one.updated_at)),
            ("user", user),
        ],
    ))
}

/// Null where nobody has to approve.
fn summary(state: &ApprovalState) -> Value {
    if !state.is_configured() {
        return Value::Null;
    }
    let rejected = state.approvals.iter().any(|one| one.status == ApprovalStatus::Rejected);
    let status = match (rejected, state.pending()) {
        (true, _) => "REJECTED",
        (false, 0) => "APPROVED",
        (false, _) => "PENDING_APPROVAL",
    };
    let required = match state.rules.is_empty() {
        true => state.required,
        false => state.rules.iter().map(|one| one.rule.required_approvals).sum(),
    };
    Value::fields(
        "DeploymentApprovalSummary",
        [
            ("status", status.into()),
            ("totalPendingApprovalCount", state.pending().into()),
            ("totalRequiredApprovals", required.into()),
        ],
    )
}

/// The tags of the commit that was deployed.
async fn tags(record: &DeploymentRecord, context: &Context) -> Result<Value, Failure> {
    let Ok(sha) = record.row.sha.parse::<Oid>() else { return Ok(Value::List(Vec::new())) };
    let read = context.forge.git_read(record.home.id(), move |reader| {
        let all = reader.tag_refs()?.into_iter().filter(|found| found.commit == Some(sha));
        Ok(all.map(|found| found.name.short().into_owned()).collect::<Vec<String>>())
    });
    let names = visible(read.await)?.unwrap_or_default();
    let tag = |name: String| {
        let path = record.home.page(context, &format!("-/tags/{name}"));
        Value::fields("DeploymentTag", [("name", name.into()), ("path", path.into())])
    };
    Ok(Value::list(names.into_iter().map(tag)))
}

async fn permissions(record: &DeploymentRecord, context: &Context) -> Result<Value, Failure> {
    let open = DeploymentLoaders::of(context).open.load(record.row.environment_id).await?;
    let (home, row) = (&record.home, &record.row);
    let own = row.user_id.is_some() && row.user_id == home.who.actor.id;
    let state = state(record, context).await?;
    let waits = row.status == DeploymentStatus::Blocked && state.is_configured() && !own;
    let approves = waits
        && home.may::<ReadDeployments>()
        && DeploymentLoaders::of(context).approvers.load(row.environment_id).await?.is_some();
    Ok(Value::fields(
        "DeploymentPermissions",
        [
            ("approveDeployment", approves.into()),
            ("destroyDeployment", (open.is_some() && home.may::<RemoveDeployments>()).into()),
            (
                "updateDeployment",
                (open.is_some() && row.job_id.is_none() && home.may::<ChangeDeployments>()).into(),
            ),
        ],
    ))
}

async fn one(
    home: &Arc<LocatedProject>,
    arguments: &Arguments,
    context: &Context,
) -> Result<Value, Failure> {
    let Some(grant) = visible(home.grant::<ReadDeployments>())? else { return Ok(Value::Null) };
    let Ok(iid) = arguments.text("iid")?.parse() else { return Ok(Value::Null) };
    let read = context.forge.db.read(move |tx| tx.deployment_numbered(grant.project(), iid)).await;
    let found = read.map_err(failure_of)?;
    Ok(found.map_or(Value::Null, |row| deployment(home.clone(), row)))
}
