//! The variables that a pipeline knows before its configuration is read.

use ci::{
    config::{
        given::RefKind,
        variables::{Known, Scoped, Server, Variable, of_commit, of_project, of_server},
    },
    pipeline::PipelineVariable,
    variable::{RefProtection, for_pipeline},
};
use db::Tx;
use kernel::{Result, access::ProjectFacts, ids::UserId};
use org::{
    places::above_project,
    project::{settings::SettingsStore as _, store::ProjectStore as _},
    user::store::UserStore as _,
};
use repo::git::CommitInfo;
use review::merge_request::{MergeRequest, MergeRequestStore as _};
use secrets::Vault;

use super::compile::RunContext;
use super::config::{CONFIG_PATH, facts};

/// So many merge requests of a branch are told.
const MOST_MERGE_REQUESTS: usize = 4;

/// What is kept in rows, in the order in which it wins.
pub(super) struct StoredVariables {
    pub config_path: Option<String>,
    pub beneath: Vec<Variable>,
    pub above: Vec<Vec<Scoped>>,
}

/// Reads the variables and the path of the configuration that the database holds for a pipeline.
pub(super) fn stored_variables(
    tx: &mut Tx<'_>,
    vault: &Vault,
    context: &RunContext,
) -> Result<StoredVariables> {
    let settings = tx.project_settings(context.facts.id)?;
    let config_path = settings.ci_config_path.filter(|path| !path.trim().is_empty());
    let mut beneath = vec![
        Variable::public("CI_CONFIG_PATH", config_path.as_deref().unwrap_or(CONFIG_PATH)),
        Variable::public("CI_PIPELINE_SOURCE", context.source.to_string()),
    ];
    if let Some(open) = open_merge_requests(tx, context)? {
        beneath.push(Variable::public("CI_OPEN_MERGE_REQUESTS", open));
    }
    if let Some(row) = &context.merge_request {
        beneath.extend(of_merge_request(tx, row)?);
    }
    let mut above = Vec::new();
    if let Some(user) = context.user {
        above.push(everywhere(of_person(tx, user)?));
    }
    let inherited = context.inherited.iter();
    above.push(everywhere(inherited.map(|(key, value)| Variable::secret(key, value)).collect()));
    above.extend(variables_for(tx, vault, &context.facts, context.protected)?);
    above.push(everywhere(context.variables.iter().map(PipelineVariable::for_jobs).collect()));
    Ok(StoredVariables { config_path, beneath, above })
}

/// Returns the variables of the instance, of the groups above the project and of the project.
fn variables_for(
    tx: &mut Tx<'_>,
    vault: &Vault,
    project: &ProjectFacts,
    protected: bool,
) -> Result<Vec<Vec<Scoped>>> {
    let groups = above_project(tx, project.id)?;
    let protection = if protected { RefProtection::Protected } else { RefProtection::Unprotected };
    for_pipeline(tx, vault, project.id, &groups, protection)
}

/// All that is known, the commit with it.
pub(super) fn all_variables(
    server: &Server<'_>,
    context: &RunContext,
    commit: &CommitInfo,
    kept: StoredVariables,
) -> Known {
    let mut beneath = of_server(server);
    beneath.extend(of_project(server, &context.facts));
    beneath.extend(of_commit(&facts(commit), &context.shown, context.kind, context.protected));
    if let Some(before) = context.before {
        beneath.push(Variable::public("CI_COMMIT_BEFORE_SHA", before.to_string()));
    }
    beneath.extend(kept.beneath);
    Known { beneath, above: kept.above }
}

fn everywhere(variables: Vec<Variable>) -> Vec<Scoped> {
    variables.into_iter().map(Scoped::everywhere).collect()
}

fn of_person(tx: &mut Tx<'_>, user: UserId) -> Result<Vec<Variable>> {
    let Some(user) = tx.find_user(user)? else { return Ok(Vec::new()) };
    Ok([
        ("GITLAB_USER_ID", user.id.to_string()),
        ("GITLAB_USER_EMAIL", user.email.clone()),
        ("GITLAB_USER_LOGIN", user.username.clone()),
        ("GITLAB_USER_NAME", user.name.clone()),
    ]
    .map(|(key, value)| Variable::public(key, value))
    .to_vec())
}

/// The merge requests that a branch is proposed by, as `group/project!1`.
fn open_merge_requests(tx: &mut Tx<'_>, context: &RunContext) -> Result<Option<String>> {
    if context.kind == RefKind::Tag {
        return Ok(None);
    }
    let rows = tx.open_merge_requests_from(context.facts.id, &context.shown)?;
    let mut told = Vec::new();
    for row in rows.iter().take(MOST_MERGE_REQUESTS) {
        let target = tx.project(row.project_id)?.full_path;
        told.push(format!("{target}!{}", row.iid));
    }
    Ok((!told.is_empty()).then(|| told.join(",")))
}

fn of_merge_request(tx: &mut Tx<'_>, row: &MergeRequest) -> Result<Vec<Variable>> {
    let target = tx.project(row.project_id)?;
    let source = match row.source_project_id {
        Some(id) => tx.project(id)?,
        None => target.clone(),
    };
    let text = |value: &Option<String>| value.clone().unwrap_or_default();
    Ok([
        ("CI_MERGE_REQUEST_ID", row.id.to_string()),
        ("CI_MERGE_REQUEST_IID", row.iid.to_string()),
        ("CI_MERGE_REQUEST_REF_PATH", format!("refs/merge-requests/{}/head", row.iid)),
        ("CI_MERGE_REQUEST_PROJECT_ID", target.id.to_string()),
        ("CI_MERGE_REQUEST_PROJECT_PATH", target.full_path.clone()),
        ("CI_MERGE_REQUEST_SOURCE_BRANCH_NAME", row.source_branch.clone()),
        ("CI_MERGE_REQUEST_SOURCE_PROJECT_ID", source.id.to_string()),
        ("CI_MERGE_REQUEST_SOURCE_PROJECT_PATH", source.full_path.clone()),
        ("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", row.target_branch.clone()),
        ("CI_MERGE_REQUEST_TITLE", row.title.clone()),
        ("CI_MERGE_REQUEST_APPROVED", row.approved.to_string()),
        ("CI_MERGE_REQUEST_DIFF_BASE_SHA", text(&row.base_sha)),
        ("CI_MERGE_REQUEST_EVENT_TYPE", "detached".to_owned()),
    ]
    .map(|(key, value)| Variable::public(key, value))
    .to_vec())
}
