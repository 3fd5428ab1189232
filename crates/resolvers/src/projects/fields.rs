//! The fields of projects.

use std::sync::Arc;

use forge::pipeline::config_path;
use graphql::{Arguments, Failure, Fields, Value};
use kernel::ids::ProjectId;
use org::{
    member::{MemberSource, Relations, related::RelatedMembers},
    policy::ReadProjectMembers,
    project::settings::{ExpirationPolicy, MergeMethod, SquashOption},
};
use repo::{
    policy::{ReadCode, ReadPushRule},
    push_rule::{Terms, actions::enforced_in},
};
use review::{
    Home,
    policy::{ReadIssues, ReadLabels},
};

use super::{
    forks::{fork_details, fork_targets},
    permissions::permissions,
    record::{CompleteProject, ProjectRecord},
    statistics::{languages, statistics},
};
use crate::{
    context::Context,
    failure::visible,
    groups, iterations, labels,
    loaders::BatchLoader,
    members, milestones, repository,
    values::{markdown, time},
};

/// A setting of the project, as a value.
macro_rules! setting {
    ($name:ident) => {
        |complete| complete.settings().map(|settings| settings.$name.clone()).into()
    };
}

pub(super) fn add(fields: Fields<'_, Context, ProjectRecord>) {
    let fields = add_plain(fields);
    let fields = add_settings(fields);
    let fields = add_lookups(fields);
    let fields = add_lists(fields);
    fields.none(&[
        "actualRepositorySizeLimit",
        "agentConfigurations",
        "apiFuzzingCiConfiguration",
        "clusterAgent",
        "clusterAgents",
        "complianceFrameworks",
        "containerRepositories",
        "containerRepositoriesCount",
        "corpuses",
        "dastProfile",
        "dastProfiles",
        "dastScannerProfiles",
        "dastSiteProfile",
        "dastSiteProfiles",
        "dastSiteValidations",
        "dora",
        "grafanaIntegration",
        "incidentManagementTimelineEventTags",
        "jiraImportStatus",
        "jiraImports",
        "jitsuKey",
        "networkPolicies",
        "onlyAllowMergeIfAllStatusChecksPassed",
        "packages",
        "packagesCleanupPolicy",
        "pathLocks",
        "productAnalyticsDashboards",
        "repositorySizeExcess",
        "requirement",
        "requirements",
        "requirementStatesCount",
        "sastCiConfiguration",
        "scanExecutionPolicies",
        "scanResultPolicies",
        "sentryDetailedError",
        "sentryErrors",
        "serviceDeskAddress",
        "snippets",
        "terraformState",
        "terraformStates",
        "timelogCategories",
    ]);
}

type ProjectFields<'r> = Fields<'r, Context, ProjectRecord>;

/// Fields that are told by what a project's page tells beside its row.
trait CompleteFields {
    fn complete(self, field: &'static str, value: fn(&CompleteProject) -> Value) -> Self;
}

impl CompleteFields for ProjectFields<'_> {
    fn complete(self, field: &'static str, value: fn(&CompleteProject) -> Value) -> Self {
        self.lookup(field, move |record, _, context| async move {
            let complete = record.complete(&context).await?;
            Ok(complete.map_or(Value::Null, |complete| value(&complete)))
        })
    }
}

/// What the project's row and its REST record tell.
fn add_plain(fields: ProjectFields<'_>) -> ProjectFields<'_> {
    fields
        .plain("archived", |record| record.project.archived.into())
        .complete("avatarUrl", |complete| complete.entity.basic.avatar_url.clone().into())
        .complete("containerRegistryEnabled", |complete| {
            complete.entity.container_registry_enabled.into()
        })
        .plain("createdAt", |record| time(record.project.created_at))
        .plain("description", |record| record.project.description.clone().into())
        .plain("forksCount", |record| match record.may::<ReadCode>() {
            true => record.project.forks_count.into(),
            false => 0.into(),
        })
        .plain("fullPath", |record| record.project.full_path.as_str().into())
        .complete("httpUrlToRepo", |complete| {
            complete.entity.basic.http_url_to_repo.as_str().into()
        })
        .plain("id", |record| Value::gid("Project", record.id()))
        .plain("importStatus", |record| record.project.import_status.as_str().into())
        .complete("issuesEnabled", |complete| complete.entity.issues_enabled.into())
        .complete("jobsEnabled", |complete| complete.entity.jobs_enabled.into())
        .plain("lastActivityAt", |record| time(record.project.last_activity_at))
        .complete("mergeRequestsEnabled", |complete| complete.entity.merge_requests_enabled.into())
        .plain("name", |record| record.project.name.as_str().into())
        .plain("nameWithNamespace", |record| record.project.full_name.as_str().into())
        .complete("openIssuesCount", |complete| complete.entity.open_issues_count.into())
        .plain("path", |record| record.project.path.as_str().into())
        .complete("snippetsEnabled", |complete| complete.entity.snippets_enabled.into())
        .complete("sshUrlToRepo", |complete| complete.entity.basic.ssh_url_to_repo.as_str().into())
        .plain("starCount", |record| record.project.star_count.into())
        .complete("tagList", |complete| complete.shown.topics.join(", ").into())
        .complete("topics", |complete| complete.shown.topics.clone().into())
        .plain("visibility", |record| record.project.visibility.to_string().into())
        .plain("webUrl", |record| record.web_url().into())
        .complete("wikiEnabled", |complete| complete.entity.wiki_enabled.into())
}

fn add_settings(fields: ProjectFields<'_>) -> ProjectFields<'_> {
    fields
        .complete("allowMergeOnSkippedPipeline", setting!(allow_merge_on_skipped_pipeline))
        .complete("autocloseReferencedIssues", setting!(autoclose_referenced_issues))
        .complete("containerExpirationPolicy", |complete| {
            let policy = complete
                .settings()
                .and_then(|settings| settings.container_expiration_policy.as_ref());
            policy.map(|policy| expiration_policy(complete, policy)).into()
        })
        .complete("lfsEnabled", setting!(lfs_enabled))
        .complete("mergeCommitTemplate", setting!(merge_commit_template))
        .complete("mergeRequestsFfOnlyEnabled", |complete| {
            let is_forward = |method| method == MergeMethod::FastForward;
            complete.settings().map(|settings| is_forward(settings.merge_method)).into()
        })
        .complete(
            "onlyAllowMergeIfAllDiscussionsAreResolved",
            setting!(only_allow_merge_if_all_discussions_are_resolved),
        )
        .complete(
            "onlyAllowMergeIfPipelineSucceeds",
            setting!(only_allow_merge_if_pipeline_succeeds),
        )
        .complete("printingMergeRequestLinkEnabled", setting!(printing_merge_request_link_enabled))
        .complete("publicJobs", setting!(public_jobs))
        .complete("removeSourceBranchAfterMerge", setting!(remove_source_branch_after_merge))
        .complete("requestAccessEnabled", setting!(request_access_enabled))
        .complete("serviceDeskEnabled", setting!(service_desk_enabled))
        .complete("sharedRunnersEnabled", setting!(shared_runners_enabled))
        .complete("squashCommitTemplate", setting!(squash_commit_template))
        .complete("squashReadOnly", |complete| {
            let fixed = |option| matches!(option, SquashOption::Always | SquashOption::Never);
            complete.settings().is_some_and(|settings| fixed(settings.squash_option)).into()
        })
        .complete("suggestionCommitMessage", setting!(suggestion_commit_message))
}

fn add_lookups(fields: ProjectFields<'_>) -> ProjectFields<'_> {
    fields
        .lookup("ciConfigPathOrDefault", |record, _, context| async move {
            // Where a project keeps it is told to those who read the code.
            let complete = match record.may::<ReadCode>() {
                true => record.complete(&context).await?,
                false => None,
            };
            let settings = complete.as_ref().and_then(|complete| complete.settings());
            let own = settings.and_then(|settings| settings.ci_config_path.as_deref());
            Ok(config_path(&context.forge, own).into())
        })
        .lookup("descriptionHtml", |record, _, context| async move {
            let text = record.project.description.as_deref();
            markdown(&context.forge, text, Some(record.id())).await
        })
        .lookup("forkDetails", |record, arguments, context| async move {
            fork_details(&context, &record, arguments.maybe_text("ref")).await
        })
        .reads_git("forkDetails")
        .lookup("group", |record, _, context| async move {
            groups::of_id(&context, record.project.namespace_id).await
        })
        .lookup("languages", |record, _, context| async move { languages(&context, &record).await })
        .reads_git("languages")
        .lookup("namespace", |record, _, context| async move {
            groups::namespace_of_id(&context, record.project.namespace_id).await
        })
        .lookup(
            "pushRules",
            |record, _, context| async move { push_rules(&context, &record).await },
        )
        .lookup("userPermissions", |record, _, context| async move {
            permissions(&record, &context).await
        })
        .lookup("statistics", |record, arguments, context| async move {
            statistics(&record, &arguments, &context).await
        })
        .lookup("repository", |record, _, _| async move {
            // Where the repository is switched off for the caller, there is none.
            let grant = visible(record.grant::<ReadCode>())?;
            Ok(grant.map_or(Value::Null, |grant| repository::repository(record.clone(), grant)))
        })
}

fn add_lists(fields: ProjectFields<'_>) -> ProjectFields<'_> {
    fields
        .lookup("branchRules", |record, arguments, context| async move {
            let matches = arguments.selects("nodes.matchingBranchesCount");
            repository::branch_rules(&context, &record, &arguments.page()?, matches).await
        })
        .lookup("forkTargets", |record, arguments, context| async move {
            fork_targets(&context, &record, &arguments).await
        })
        .lookup("iterations", |record, arguments, context| async move {
            iterations::of_project(&context, record.grant(), &arguments).await
        })
        .lookup("iterationCadences", |record, arguments, context| async move {
            if !record.may::<ReadIssues>() {
                return Ok(Value::Null);
            }
            iterations::cadences_of(&context, Home::Project(record.id()), &arguments).await
        })
        .lookup("label", |record, arguments, context| async move {
            labels::named(&context, record.grant::<ReadLabels>(), arguments.text("title")?).await
        })
        .lookup("labels", |record, arguments, context| async move {
            labels::of_project(&context, record.grant(), &arguments).await
        })
        .lookup("milestones", |record, arguments, context| async move {
            milestones::of_project(&context, record.grant(), &arguments).await
        })
        .lookup("projectMembers", |record, arguments, context| async move {
            members_of(&context, &record, &arguments).await
        })
}

fn expiration_policy(complete: &CompleteProject, policy: &ExpirationPolicy) -> Value {
    let cadence = match policy.cadence.as_deref() {
        Some("7d") => "EVERY_WEEK",
        Some("14d") => "EVERY_TWO_WEEKS",
        Some("1month") => "EVERY_MONTH",
        Some("3month") => "EVERY_THREE_MONTHS",
        _ => "EVERY_DAY",
    };
    let keep = policy.keep_n.and_then(|number| match number {
        1 => Some("ONE_TAG"),
        5 => Some("FIVE_TAGS"),
        10 => Some("TEN_TAGS"),
        25 => Some("TWENTY_FIVE_TAGS"),
        50 => Some("FIFTY_TAGS"),
        100 => Some("ONE_HUNDRED_TAGS"),
        _ => None,
    });
    let age = policy.older_than.as_deref().and_then(|age| match age {
        "7d" => Some("SEVEN_DAYS"),
        "14d" => Some("FOURTEEN_DAYS"),
        "30d" => Some("THIRTY_DAYS"),
        "60d" => Some("SIXTY_DAYS"),
        "90d" => Some("NINETY_DAYS"),
        _ => None,
    });
    Value::fields(
        "ContainerExpirationPolicy",
        [
            ("cadence", cadence.into()),
            ("createdAt", time(complete.shown.project.created_at)),
            ("enabled", policy.enabled.into()),
            ("keepN", keep.into()),
            ("nameRegex", policy.name_regex.clone().into()),
            ("nameRegexKeep", policy.name_regex_keep.clone().into()),
            ("nextRunAt", Value::Null),
            ("olderThan", age.into()),
            ("updatedAt", time(complete.shown.project.updated_at)),
        ],
    )
}

/// Loads what is demanded of pushes to projects.
struct PushRuleLoader(BatchLoader<ProjectId, Terms>);

async fn push_rules(context: &Context, record: &ProjectRecord) -> Result<Value, Failure> {
    if !record.may::<ReadPushRule>() {
        return Ok(Value::Null);
    }
    let rules = context.loaders.of(|db| PushRuleLoader(BatchLoader::new(db, enforced_in)));
    Ok(rules.0.load(record.id()).await?.map_or(Value::Null, |terms| {
        let signed = terms.reject_unsigned_commits;
        Value::fields("PushRules", [("rejectUnsignedCommits", signed.into())])
    }))
}

async fn members_of(
    context: &Context,
    record: &Arc<ProjectRecord>,
    arguments: &Arguments,
) -> Result<Value, Failure> {
    let Some(grant) = visible(record.grant::<ReadProjectMembers>())? else {
        return Ok(Value::Null);
    };
    let relations = arguments.texts("relations");
    let has = |relation: &str| relations.iter().any(|given| given == relation);
    let relations = Relations {
        direct: has("DIRECT"),
        inherited: has("INHERITED"),
        descendants: has("DESCENDANTS"),
        invited: has("INVITED_GROUPS"),
        invited_above: has("SHARED_INTO_ANCESTORS"),
    };
    let wanted =
        RelatedMembers { relations, ..members::related_members(context.actor(), arguments) };
    members::list(context, MemberSource::project(&grant), wanted, arguments).await
}
