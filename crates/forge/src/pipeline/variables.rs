//! The variables that a pipeline knows before its configuration is read.

use ci::{
    config::{
        input::RefKind,
        variables::{
            OuterVariables, ScopedVariable, Server, Variable, of_commit, of_project, of_server,
        },
    },
    pipeline::{PipelineVariable, Source},
    variable::{RefProtection, for_pipeline},
};
use db::Tx;
use deployments::freeze_period::actions::is_frozen;
use kernel::{
    Result, Ts,
    access::{FeatureAccess, ProjectFacts},
    ids::{ProjectId, UserId},
};
use org::{
    hierarchy::above_project,
    project::{
        settings::SettingsStore as _, statistics::StatisticsStore as _, store::ProjectStore as _,
    },
    user::store::UserStore as _,
};
use repo::{protection::protected_among, release::ReleaseStore as _};
use review::{
    item::{ItemKind, ItemStore as _},
    merge_request::{MergeRequest, MergeRequestStore as _, VersionStore as _},
    milestone::MilestoneStore as _,
};
use secrets::Vault;

use super::{
    compile::RunContext,
    config::{CONFIG_PATH, PipelineCommit, facts},
};
use crate::{Forge, ports::deployments::Calendar, urls::Urls};

/// So many merge requests of a branch are told.
const MOST_MERGE_REQUESTS: usize = 4;

/// So many letters of the description of a release are told.
const LONGEST_DESCRIPTION: usize = 1024;

/// Stored variables, in order of precedence.
pub(super) struct StoredVariables {
    pub config_path: Option<String>,
    /// Whether there are jobs without a configuration, too.
    pub has_auto_devops: bool,
    pub beneath: Vec<Variable>,
    pub above: Vec<Vec<ScopedVariable>>,
}

/// Reads the variables and the path of the configuration that the database holds for a pipeline.
pub(super) fn stored_variables(
    tx: &mut Tx<'_>,
    forge: &Forge,
    context: &RunContext,
) -> Result<StoredVariables> {
    let project = tx.project(context.facts.id)?;
    let settings = tx.project_settings(context.facts.id)?;
    let has_auto_devops = settings.auto_devops_enabled;
    let domain = has_auto_devops
        .then(|| forge.settings())
        .and_then(|set| set.auto_devops_domain().map(str::to_owned));
    let config_path = settings.ci_config_path.filter(|path| !path.trim().is_empty());
    let usual = || forge.settings().default_ci_config_path().map(str::to_owned);
    let config_path = config_path.or_else(usual);
    let mut beneath = vec![
        Variable::public("CI_CONFIG_PATH", config_path.as_deref().unwrap_or(CONFIG_PATH)),
        Variable::public("CI_PIPELINE_SOURCE", context.source.to_string()),
        Variable::public("CI_PROJECT_DESCRIPTION", project.description.unwrap_or_default()),
        Variable::public(
            "CI_PROJECT_CLASSIFICATION_LABEL",
            settings.external_authorization_classification_label.unwrap_or_default(),
        ),
        Variable::public("CI_PROJECT_REPOSITORY_LANGUAGES", languages(tx, project.id)?),
    ];
    let registry = settings.container_registry_access_level;
    beneath.extend(of_registry(&forge.urls, &project.full_path, registry));
    if let Some(domain) = domain {
        beneath.push(Variable::public("KUBE_INGRESS_BASE_DOMAIN", domain));
    }
    if context.source == Source::Trigger {
        beneath.push(Variable::public("CI_PIPELINE_TRIGGERED", "true"));
    }
    if is_frozen(tx, &Calendar, context.facts.id)? {
        beneath.push(Variable::public("CI_DEPLOY_FREEZE", "true"));
    }
    if let Some(open) = open_merge_requests(tx, context)? {
        beneath.push(Variable::public("CI_OPEN_MERGE_REQUESTS", open));
    }
    if let Some(row) = &context.merge_request {
        beneath.extend(of_merge_request(tx, forge.urls.base(), row)?);
    }
    let mut above = Vec::new();
    if let Some(user) = context.user {
        above.push(everywhere(of_person(tx, user)?));
    }
    let inherited = context.inherited.iter();
    above.push(everywhere(inherited.map(|(key, value)| Variable::secret(key, value)).collect()));
    above.extend(variables_for(tx, &forge.vault, &context.facts, context.protected)?);
    above.push(everywhere(context.variables.iter().map(PipelineVariable::for_jobs).collect()));
    above.push(everywhere(of_release(tx, context)?.into_iter().collect()));
    Ok(StoredVariables { config_path, has_auto_devops, beneath, above })
}

/// When the pipeline was made, in whole seconds.
pub(crate) fn created_at(at: Ts) -> Variable {
    Variable::public("CI_PIPELINE_CREATED_AT", whole_seconds(at))
}

pub(crate) fn whole_seconds(at: Ts) -> String {
    let text = at.iso();
    text.split_once('.').map_or(text.clone(), |(whole, _)| format!("{whole}Z"))
}

/// Returns the variables of the instance, of the groups above the project and of the project.
fn variables_for(
    tx: &mut Tx<'_>,
    vault: &Vault,
    project: &ProjectFacts,
    protected: bool,
) -> Result<Vec<Vec<ScopedVariable>>> {
    let groups = above_project(tx, project.id)?;
    let protection = if protected { RefProtection::Protected } else { RefProtection::Unprotected };
    for_pipeline(tx, vault, project.id, &groups, protection)
}

/// All that is known, the commit with it.
pub(super) fn all_variables(
    server: &Server<'_>,
    context: &RunContext,
    commit: &PipelineCommit,
    kept: StoredVariables,
) -> OuterVariables {
    let mut beneath = of_server(server);
    beneath.extend(of_project(server, &context.facts));
    beneath.extend(of_commit(&facts(commit), &context.shown, context.kind, context.protected));
    if let Some(before) = context.before {
        beneath.push(Variable::public("CI_COMMIT_BEFORE_SHA", before.to_string()));
    }
    if let Some(iid) = context.iid {
        beneath.push(Variable::public("CI_PIPELINE_IID", iid.to_string()));
    }
    beneath.extend(kept.beneath);
    OuterVariables { beneath, above: kept.above }
}

fn everywhere(variables: Vec<Variable>) -> Vec<ScopedVariable> {
    variables.into_iter().map(ScopedVariable::everywhere).collect()
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

/// Where the images of a project are: nowhere, where it keeps none.
fn of_registry(urls: &Urls, path: &str, access: FeatureAccess) -> Vec<Variable> {
    if access == FeatureAccess::Disabled {
        return Vec::new();
    }
    vec![
        Variable::public("CI_REGISTRY", urls.host()),
        Variable::public("CI_REGISTRY_IMAGE", urls.image_prefix(path)),
    ]
}

/// What the release of a tag says of itself, as people wrote it: names of variables in it are none.
fn of_release(tx: &mut Tx<'_>, context: &RunContext) -> Result<Option<Variable>> {
    if context.kind != RefKind::Tag {
        return Ok(None);
    }
    let release = tx.find_release(context.facts.id, &context.shown)?;
    let text = release.and_then(|release| release.description).filter(|text| !text.is_empty());
    Ok(text.map(|text| Variable {
        raw: true,
        ..Variable::public(
            "CI_RELEASE_DESCRIPTION",
            text.chars().take(LONGEST_DESCRIPTION).collect::<String>(),
        )
    }))
}

/// The languages of a repository, the one with the most bytes first: `ruby,javascript`.
fn languages(tx: &mut Tx<'_>, project: ProjectId) -> Result<String> {
    Ok(tx.languages(project)?.join(",").to_lowercase())
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

/// In a pipeline for the source branch alone the heads of both branches are empty: they belong to merged results.
fn of_merge_request(tx: &mut Tx<'_>, url: &str, row: &MergeRequest) -> Result<Vec<Variable>> {
    let target = tx.project(row.project_id)?;
    let source = match row.source_project_id {
        Some(id) => tx.project(id)?,
        None => target.clone(),
    };
    let text = |value: &Option<String>| value.clone().unwrap_or_default();
    let mut all = vec![
        ("CI_MERGE_REQUEST_ID", row.id.to_string()),
        ("CI_MERGE_REQUEST_IID", row.iid.to_string()),
        ("CI_MERGE_REQUEST_REF_PATH", format!("refs/merge-requests/{}/head", row.iid)),
        ("CI_MERGE_REQUEST_PROJECT_ID", target.id.to_string()),
        ("CI_MERGE_REQUEST_PROJECT_PATH", target.full_path.clone()),
        ("CI_MERGE_REQUEST_PROJECT_URL", format!("{url}/{}", target.full_path)),
        ("CI_MERGE_REQUEST_SOURCE_BRANCH_NAME", row.source_branch.clone()),
        ("CI_MERGE_REQUEST_SOURCE_BRANCH_SHA", String::new()),
        ("CI_MERGE_REQUEST_SOURCE_PROJECT_ID", source.id.to_string()),
        ("CI_MERGE_REQUEST_SOURCE_PROJECT_PATH", source.full_path.clone()),
        ("CI_MERGE_REQUEST_SOURCE_PROJECT_URL", format!("{url}/{}", source.full_path)),
        ("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", row.target_branch.clone()),
        ("CI_MERGE_REQUEST_TARGET_BRANCH_SHA", String::new()),
        ("CI_MERGE_REQUEST_TITLE", row.title.clone()),
        ("CI_MERGE_REQUEST_APPROVED", row.approved.to_string()),
        ("CI_MERGE_REQUEST_DIFF_BASE_SHA", text(&row.base_sha)),
        ("CI_MERGE_REQUEST_EVENT_TYPE", "detached".to_owned()),
    ];
    all.extend(target_and_version(tx, row)?);
    all.extend(sorting(tx, row)?);
    Ok(all.into_iter().map(|(key, value)| Variable::public(key, value)).collect())
}

/// Whether the branch is protected to which a merge request leads, and which version of it is the newest.
fn target_and_version(tx: &mut Tx<'_>, row: &MergeRequest) -> Result<Vec<(&'static str, String)>> {
    let target = (row.project_id, row.target_branch.clone());
    let protected = !protected_among(tx, &[target])?.is_empty();
    let mut all = vec![("CI_MERGE_REQUEST_TARGET_BRANCH_PROTECTED", protected.to_string())];
    let newest = tx.newest_version(row.id)?;
    all.extend(newest.map(|id| ("CI_MERGE_REQUEST_DIFF_ID", id.to_string())));
    Ok(all)
}

/// How a merge request is sorted, and whose it is. What it does not have is no variable.
fn sorting(tx: &mut Tx<'_>, row: &MergeRequest) -> Result<Vec<(&'static str, String)>> {
    let (kind, id) = (ItemKind::MergeRequest, row.id.0);
    let labels = tx.labels_of(kind, &[id])?.remove(&id).unwrap_or_default();
    let labels: Vec<String> = labels.into_iter().map(|label| label.name).collect();
    let assignees = tx.assignees_of(kind, &[id])?.remove(&id).unwrap_or_default();
    let people = tx.users_by_id(&assignees)?;
    let assignees = assignees.iter().filter_map(|id| people.get(id));
    let assignees: Vec<&str> = assignees.map(|user| user.username.as_str()).collect();
    let milestone = match row.milestone_id {
        Some(id) => tx.milestones_by_id(&[id])?.pop().map(|milestone| milestone.title),
        None => None,
    };
    let all = [
        ("CI_MERGE_REQUEST_LABELS", labels.join(",")),
        ("CI_MERGE_REQUEST_MILESTONE", milestone.unwrap_or_default()),
        ("CI_MERGE_REQUEST_ASSIGNEES", sentence(&assignees)),
    ];
    Ok(all.into_iter().filter(|(_, value)| !value.is_empty()).collect())
}

/// `a`, `a and b`, `a, b, and c`.
fn sentence(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [one, two] => format!("{one} and {two}"),
        [first @ .., last] => format!("{}, and {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::sentence;

    #[test]
    fn names_are_told_as_in_a_sentence() {
        assert_eq!(sentence(&[]), "");
        assert_eq!(sentence(&["ada", "ben"]), "ada and ben");
        assert_eq!(sentence(&["ada", "ben", "cleo"]), "ada, ben, and cleo");
    }
}
