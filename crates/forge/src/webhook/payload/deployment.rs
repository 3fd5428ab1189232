//! Deployments.

use db::Tx;
use deployments::{deployment::Deployment, environment::Environment};
use kernel::Result;
use serde_json::{Value, json};

use super::common::{People, ProjectContext, utc, word};

/// A deployment; the title of its commit is added when it was read.
pub(crate) fn deployment(
    tx: &mut Tx<'_>,
    context: &ProjectContext,
    row: &Deployment,
    environment: &Environment,
) -> Result<Value> {
    let ids: Vec<_> = row.user_id.into_iter().collect();
    let people = People::load(tx, &ids)?;
    let user = row.user_id.and_then(|id| people.get(id));
    let short: String = row.sha.chars().take(8).collect();
    Ok(json!({
        "object_kind": "deployment",
        "status": word(row.status),
        "status_changed_at": utc(row.updated_at),
        "deployment_id": row.id,
        "deployable_id": row.job_id,
        "deployable_url": row.job_id.map(|job| context.at(&format!("jobs/{job}"))),
        "environment": environment.name,
        "environment_tier": word(environment.tier),
        "environment_slug": environment.slug,
        "environment_external_url": environment.external_url,
        "project": context.project_json(),
        "short_sha": short,
        "user": people.json(context.urls(), row.user_id),
        "user_url": user.map(|user| context.urls().at(&user.username)),
        "commit_url": context.at(&format!("commit/{}", row.sha)),
        "commit_title": null,
        "ref": row.ref_name,
    }))
}
