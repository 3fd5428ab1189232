//! The names and summaries of operations in the OpenAPI document, derived from method and pattern.
//!
//! Most patterns are collections and their items, so a table of nouns and a table of actions describe them; what fits
//! neither has a sentence of its own in [`WHOLE`].

/// A name that no other operation has: `getApiV4ProjectsIdProtectedTagsName`.
pub(super) fn operation_id(method: &str, full_pattern: &str) -> String {
    // Slash commands have an address with underscores and one with dashes.
    let distinct = full_pattern.replace("-slash-commands", "-dashed-slash-commands");
    let words = distinct.split(|c: char| !c.is_ascii_alphanumeric()).filter(|w| !w.is_empty());
    let mut id = method.to_ascii_lowercase();
    for word in words {
        let (first, rest) = word.split_at(1);
        id.push_str(&first.to_ascii_uppercase());
        id.push_str(rest);
    }
    match full_pattern == "/" {
        true => id + "Root",
        false => id,
    }
}

/// What an operation does, in one line; `None` for a pattern with a word that no table knows.
pub(super) fn summary(method: &str, pattern: &str) -> Option<String> {
    if let Some((_, _, text)) = WHOLE.iter().find(|row| (row.0, row.1) == (method, pattern)) {
        return Some((*text).to_owned());
    }
    let pattern = pattern.strip_prefix("/security").unwrap_or(pattern);
    let pattern = pattern
        .strip_prefix("/projects/{id}/repository")
        .map_or_else(|| pattern.to_owned(), |rest| format!("/projects/{{id}}{rest}"));
    let parts: Vec<&str> = pattern.trim_start_matches('/').split('/').collect();
    let (last, above) = parts.split_last()?;
    if is_name(last) {
        let verb = if method == "POST" { "Create" } else { verb(method)? };
        return Some(format!("{verb} {}", owner(&parts)?));
    }
    if let Some((_, _, text)) = ACTIONS.iter().find(|row| (row.0, row.1) == (method, *last)) {
        return Some(text.replace("{}", &owner(above)?));
    }
    if let Some(ending) = last.strip_prefix("archive") {
        let form = ending.strip_prefix('.').map_or_else(String::new, |form| format!(" as {form}"));
        return Some(format!("Download an archive of {}{form}", owner(above)?));
    }
    let of = match above {
        [] => String::new(),
        above => format!(" of {}", owner(above)?),
    };
    if let Some((_, phrase)) = SINGLE.iter().find(|row| row.0 == *last) {
        return Some(format!("{} {phrase}{of}", verb(method)?));
    }
    let (_, one, many) = NOUNS.iter().find(|row| row.0 == *last)?;
    Some(match method {
        "POST" => format!("Create {one}{of}"),
        "GET" => format!("List {many}{of}"),
        _ => format!("{} {many}{of}", verb(method)?),
    })
}

fn is_name(part: &str) -> bool {
    part.starts_with('{')
}

fn verb(method: &str) -> Option<&'static str> {
    Some(match method {
        "GET" => "Get",
        "HEAD" => "Check the existence of",
        "POST" => "Set",
        "PUT" | "PATCH" => "Change",
        "DELETE" => "Delete",
        _ => return None,
    })
}

/// `a note of an issue` for what a path leads to; the project or group is named where nothing lies between.
fn owner(parts: &[&str]) -> Option<String> {
    let mut nouns = Vec::new();
    for (at, part) in parts.iter().enumerate().filter(|(_, part)| !is_name(part)) {
        let known = NOUNS.iter().find(|row| row.0 == *part).map(|row| row.1);
        let single = SINGLE.iter().find(|row| row.0 == *part).map(|row| row.1);
        match parts.get(at + 1).is_some_and(|next| is_name(next)) {
            true => nouns.push(known.or(single)?),
            false => nouns.push(single.or(known)?),
        }
    }
    if nouns.len() > 2 {
        nouns.remove(0);
    }
    nouns.reverse();
    Some(nouns.join(" of "))
}

/// A part of a path, one of its items, and several of them.
const NOUNS: &[(&str, &str, &str)] = &[
    ("bridges", "a trigger job", "trigger jobs"),
    ("jobs", "a job", "jobs"),
    ("runners", "a runner", "runners"),
    ("pipeline_schedules", "a pipeline schedule", "pipeline schedules"),
    ("resource_groups", "a resource group", "resource groups"),
    ("environments", "an environment", "environments"),
    ("deployments", "a deployment", "deployments"),
    ("freeze_periods", "a freeze period", "freeze periods"),
    ("protected_environments", "a protected environment", "protected environments"),
    ("review_apps", "a stopped review app", "stopped review apps"),
    ("vulnerabilities", "a vulnerability", "vulnerabilities"),
    ("vulnerability_exports", "an export of vulnerabilities", "exports of vulnerabilities"),
    ("vulnerability_findings", "a finding of scanners", "findings of scanners"),
    ("alert_management_alerts", "an alert", "alerts"),
    ("metric_images", "a metric image", "metric images"),
    ("alert_management_integrations", "an alert integration", "alert integrations"),
    ("topics", "a topic", "topics"),
    ("applications", "an application", "applications"),
    ("triggers", "a pipeline trigger", "pipeline triggers"),
    ("upcoming_jobs", "a job", "upcoming jobs"),
    ("variables", "a CI/CD variable", "CI/CD variables"),
    ("access_requests", "an access request", "access requests"),
    ("access_tokens", "an access token", "access tokens"),
    ("approval_rules", "an approval rule", "approval rules"),
    ("audit_events", "an audit event", "audit events"),
    ("award_emoji", "a reaction", "reactions"),
    ("billable_members", "a billable member", "billable members"),
    ("blobs", "a blob", "blobs"),
    ("branches", "a branch", "branches"),
    ("broadcast_messages", "a broadcast message", "broadcast messages"),
    ("closed_by", "a merge request", "merge requests that close an issue"),
    ("comments", "a comment", "comments"),
    ("commits", "a commit", "commits"),
    ("context_commits", "context commits", "context commits"),
    ("contributed_projects", "a project", "projects with contributions"),
    ("contributors", "a contributor", "contributors"),
    ("custom_attributes", "a custom attribute", "custom attributes"),
    ("descendant_groups", "a group", "groups at any depth"),
    ("diffs", "a diff", "diffs"),
    ("discussions", "a discussion", "discussions"),
    ("emails", "an email address", "email addresses"),
    ("epics", "an epic", "epics"),
    ("events", "an event", "events"),
    ("features", "a feature", "features"),
    ("files", "a file", "files"),
    ("followers", "a follower", "followers"),
    ("forks", "a fork", "forks"),
    ("gpg_keys", "an OpenPGP key", "OpenPGP keys"),
    ("groups", "a group", "groups"),
    ("identities", "an identity", "identities"),
    ("impersonation_tokens", "an impersonation token", "impersonation tokens"),
    ("invitations", "an invitation", "invitations"),
    ("issues", "an issue", "issues"),
    ("boards", "a board", "boards"),
    ("epic_boards", "an epic board", "epic boards"),
    ("lists", "a list", "lists"),
    ("iterations", "an iteration", "iterations"),
    ("keys", "an SSH key", "SSH keys"),
    ("labels", "a label", "labels"),
    ("ldap_group_links", "an LDAP link", "LDAP links"),
    ("links", "a link", "linked issues"),
    ("members", "a member", "direct members"),
    ("memberships", "a membership", "memberships"),
    ("merge_requests", "a merge request", "merge requests"),
    ("milestones", "a milestone", "milestones"),
    ("namespace_bans", "a ban", "bans"),
    ("namespaces", "a namespace", "namespaces"),
    ("notes", "a note", "notes"),
    ("participants", "a participant", "participants"),
    ("pending_members", "a pending member", "pending members"),
    ("personal_access_tokens", "a personal access token", "personal access tokens"),
    ("pipelines", "a pipeline", "pipelines"),
    ("projects", "a project", "projects"),
    ("protected_branches", "a protected branch", "protected branches"),
    ("protected_tags", "a protected tag", "protected tags"),
    ("provisioned_users", "a provisioned user", "provisioned users"),
    ("refs", "a ref", "branches and tags that contain a commit"),
    ("related_issues", "an issue", "related issues"),
    ("related_merge_requests", "a merge request", "related merge requests"),
    ("resource_iteration_events", "an iteration event", "iteration events"),
    ("resource_label_events", "a label event", "label events"),
    ("resource_milestone_events", "a milestone event", "milestone events"),
    ("resource_state_events", "a state event", "state events"),
    ("resource_weight_events", "a weight event", "weight events"),
    ("reviewers", "a reviewer", "reviewers"),
    ("saml_group_links", "a SAML link", "SAML links"),
    ("starred_projects", "a project", "starred projects"),
    ("starrers", "a starrer", "people who starred"),
    ("statuses", "a status", "statuses"),
    ("subgroups", "a subgroup", "subgroups"),
    ("tags", "a tag", "tags"),
    ("todos", "a to-do", "to-dos"),
    ("transfer_locations", "a place", "places to transfer to"),
    ("tree", "an entry", "files and folders"),
    ("users", "a user", "users"),
    ("versions", "a version", "diff versions"),
    ("wikis", "a wiki page", "wiki pages"),
    ("custom_headers", "a custom header", "custom headers"),
    ("hooks", "a webhook", "webhooks"),
    ("integrations", "an integration", "integrations"),
    ("services", "an integration (older URL)", "integrations (older URL)"),
    ("releases", "a release", "releases"),
    ("url_variables", "a URL variable", "URL variables"),
];

/// What there is one of.
const SINGLE: &[(&str, &str)] = &[
    ("alert_management_settings", "the settings of alerts"),
    ("test_report", "the test report"),
    ("test_report_summary", "the summary of the test report"),
    ("approval_state", "the approval rules and approvals"),
    ("approvals", "the approval settings"),
    ("associations_count", "the number of groups, projects, issues and merge requests"),
    ("avatar", "the avatar"),
    ("blame", "the last commit of each line"),
    ("changes", "the changes"),
    ("compare", "a comparison of two revisions"),
    ("current_job", "the current job"),
    ("diff", "the diff"),
    ("issues_statistics", "the number of issues"),
    ("job", "the job of a job token"),
    ("languages", "the languages"),
    ("latest", "the latest pipeline"),
    ("merge_base", "the common ancestor of revisions"),
    ("merge_ref", "the commit of the merge ref"),
    ("metadata", "the version and metadata of the server"),
    ("preferences", "the preferences"),
    ("push_rule", "the push rule"),
    ("raw", "the raw contents"),
    ("raw_diffs", "the changes as plain text"),
    ("sequence", "the position in the history"),
    ("signature", "the signature"),
    ("snapshot", "a snapshot of the repository"),
    ("status", "the status"),
    ("storage", "the storage location of the repository"),
    ("time_stats", "the time statistics"),
    ("user", "the signed-in user"),
    ("user_agent_detail", "the address and browser of the author"),
    ("user_counts", "the number of open issues, merge requests and to-dos"),
    ("version", "the version of the server"),
];

/// What a last part does to what stands before it.
const ACTIONS: &[(&str, &str, &str)] = &[
    ("POST", "approval", "Approve or reject {}"),
    ("POST", "members", "Add a member to {}"),
    ("POST", "invitations", "Invite people to {}"),
    ("GET", "transfer_locations", "List the namespaces to which {} can be transferred"),
    ("GET", "starrers", "List users who starred {}"),
    ("POST", "stop", "Stop {}"),
    ("POST", "stop_stale", "Stop stale environments of {}"),
    ("POST", "confirm", "Confirm {}"),
    ("POST", "dismiss", "Dismiss {}"),
    ("POST", "resolve", "Resolve {}"),
    ("GET", "download", "Download {}"),
    ("POST", "reset_token", "Reset the token of {}"),
    ("POST", "cancel", "Cancel {}"),
    ("POST", "erase", "Erase the log and the artifacts of {}"),
    ("POST", "pipeline", "Run a pipeline of {}"),
    ("POST", "play", "Run {} now"),
    ("POST", "retry", "Retry {}"),
    ("POST", "take_ownership", "Take ownership of {}"),
    ("POST", "activate", "Activate {}"),
    ("POST", "add_spent_time", "Add time spent on {}"),
    ("POST", "approve", "Approve {}"),
    ("PUT", "approve", "Approve {}"),
    ("POST", "archive", "Archive {}"),
    ("POST", "attachments", "Upload an attachment to {}"),
    ("POST", "ban", "Ban {}"),
    ("POST", "block", "Block {}"),
    ("POST", "cancel_merge_when_pipeline_succeeds", "Cancel the automatic merge of {}"),
    ("GET", "changelog", "Generate a changelog of {}"),
    ("POST", "changelog", "Commit a changelog to {}"),
    ("POST", "cherry_pick", "Cherry-pick {}"),
    ("POST", "clone", "Clone {} into a project"),
    ("GET", "closed_by", "List merge requests that close {}"),
    ("GET", "closes_issues", "List issues that {} closes"),
    ("POST", "context_commits", "Add context commits to {}"),
    ("POST", "deactivate", "Deactivate {}"),
    ("PATCH", "disable_two_factor", "Disable two-factor sign-in of {}"),
    ("GET", "exists", "Check whether the path of {} is taken"),
    ("POST", "follow", "Follow {}"),
    ("GET", "following", "List users whom {} follows"),
    ("DELETE", "fork", "Remove the fork relation of {}"),
    ("POST", "fork", "Fork {}"),
    ("POST", "housekeeping", "Start housekeeping of {}"),
    ("GET", "indirect", "List the inherited memberships of {}"),
    ("POST", "mark_as_done", "Mark {} as done"),
    ("PUT", "merge", "Merge {}"),
    ("DELETE", "merged_branches", "Delete merged branches of {}"),
    ("POST", "move", "Move {} to another project"),
    ("POST", "override", "Override the LDAP role of {}"),
    ("DELETE", "override", "End the override of the LDAP role of {}"),
    ("PUT", "promote", "Promote {} to the group"),
    ("POST", "promote", "Promote {} to the group"),
    ("PUT", "protect", "Protect {}"),
    ("PUT", "rebase", "Rebase {}"),
    ("GET", "refs", "List branches and tags that contain {}"),
    ("POST", "reject", "Reject the sign-up of {}"),
    ("PUT", "reorder", "Change the position of {} in lists"),
    ("PUT", "reset_approvals", "Remove all approvals of {}"),
    ("POST", "reset_spent_time", "Reset the time spent on {}"),
    ("POST", "reset_time_estimate", "Reset the time estimate of {}"),
    ("POST", "restore", "Restore {} that is marked for deletion"),
    ("POST", "revert", "Revert {}"),
    ("POST", "revoke", "Revoke {}"),
    ("POST", "rotate", "Rotate {}"),
    ("POST", "share", "Share {} with a group"),
    ("POST", "star", "Star {}"),
    ("PUT", "state", "Change the state of {}"),
    ("POST", "subscribe", "Subscribe to {}"),
    ("POST", "time_estimate", "Set the time estimate of {}"),
    ("POST", "todo", "Add {} to the caller's to-dos"),
    ("POST", "transfer", "Transfer {}"),
    ("PUT", "transfer", "Transfer {} to another namespace"),
    ("POST", "unapprove", "Withdraw the caller's approval of {}"),
    ("POST", "unarchive", "Unarchive {}"),
    ("POST", "unban", "Unban {}"),
    ("POST", "unblock", "Unblock {}"),
    ("POST", "unfollow", "Unfollow {}"),
    ("PUT", "unprotect", "Unprotect {}"),
    ("POST", "unstar", "Unstar {}"),
    ("POST", "unsubscribe", "Unsubscribe from {}"),
    ("POST", "uploads", "Upload a file to {}"),
];

const WHOLE: &[(&str, &str, &str)] = &[
    ("GET", "//api/graphql", "Execute a GraphQL query"),
    ("POST", "//api/graphql", "Execute GraphQL queries and mutations"),
    ("GET", "//-/graphql-explorer", "Get the page for trying GraphQL queries"),
    ("GET", "//-/graphql-explorer/{filename}", "Get a file of the page for trying GraphQL queries"),
    ("POST", "/import/remote_host", "Import a repository from the hosted service"),
    ("POST", "/import/github", "Import a repository from the hosted service"),
    ("POST", "/import/remote_host/cancel", "Cancel an import from the hosted service"),
    ("POST", "/import/github/cancel", "Cancel an import from the hosted service"),
    ("POST", "/import/remote_host/gists", "Import the gists of a user of the hosted service"),
    ("POST", "/import/github/gists", "Import the gists of a user of the hosted service"),
    ("POST", "/import/remote_server", "Import a repository from another server"),
    ("POST", "/import/bitbucket_server", "Import a repository from another server"),
    ("GET", "/projects/{id}/import", "Get the status of a project import"),
    ("POST", "/projects/{id}/export", "Export a project"),
    ("GET", "/projects/{id}/export", "Get the status of a project export"),
    ("GET", "/projects/{id}/export/download", "Download the archive of a project"),
    ("POST", "/projects/import", "Import a project from an archive"),
    ("POST", "/groups/{id}/export", "Export a group"),
    ("GET", "/groups/{id}/export/download", "Download the archive of a group"),
    ("POST", "/groups/import", "Import a group from an archive"),
    ("POST", "/bulk_imports", "Import groups and projects from another installation"),
    ("GET", "/bulk_imports", "List the caller's bulk imports"),
    ("GET", "/bulk_imports/entities", "List the groups and projects of the caller's bulk imports"),
    ("GET", "/bulk_imports/{import_id}", "Get a bulk import"),
    ("GET", "/bulk_imports/{import_id}/entities", "List the groups and projects of a bulk import"),
    (
        "GET",
        "/bulk_imports/{import_id}/entities/{entity_id}",
        "Get a group or project of a bulk import",
    ),
    (
        "GET",
        "/bulk_imports/{import_id}/entities/{entity_id}/failures",
        "List what could not be fetched of a group or project",
    ),
    ("POST", "/bulk_imports/{import_id}/cancel", "Cancel a bulk import"),
    ("GET", "/geo_nodes", "List Geo nodes"),
    ("POST", "/geo_nodes", "Create a Geo node"),
    ("GET", "/geo_nodes/status", "List the statuses of Geo nodes"),
    ("GET", "/geo_nodes/statuses", "List the statuses of Geo nodes (URL of some clients)"),
    (
        "GET",
        "/geo_nodes/current/failures",
        "List the repositories whose copies failed on a secondary",
    ),
    ("GET", "/geo_nodes/{id}", "Get a Geo node"),
    ("PUT", "/geo_nodes/{id}", "Change a Geo node"),
    ("DELETE", "/geo_nodes/{id}", "Delete a Geo node"),
    ("POST", "/geo_nodes/{id}/repair", "Make the missing OAuth application of a Geo node"),
    ("GET", "/geo_nodes/{id}/status", "Get the status of a Geo node"),
    ("GET", "/geo_sites", "List Geo nodes (later URL)"),
    ("POST", "/geo_sites", "Create a Geo node (later URL)"),
    ("GET", "/geo_sites/status", "List the statuses of Geo nodes (later URL)"),
    ("GET", "/geo_sites/statuses", "List the statuses of Geo nodes (later URL of some clients)"),
    (
        "GET",
        "/geo_sites/current/failures",
        "List the repositories whose copies failed on a secondary (later URL)",
    ),
    ("GET", "/geo_sites/{id}", "Get a Geo node (later URL)"),
    ("PUT", "/geo_sites/{id}", "Change a Geo node (later URL)"),
    ("DELETE", "/geo_sites/{id}", "Delete a Geo node (later URL)"),
    (
        "POST",
        "/geo_sites/{id}/repair",
        "Make the missing OAuth application of a Geo node (later URL)",
    ),
    ("GET", "/geo_sites/{id}/status", "Get the status of a Geo node (later URL)"),
    (
        "GET",
        "/geo/repositories/{gl_repository}/pipeline_refs",
        "List the refs that keep the commits of pipelines, for a secondary",
    ),
    ("POST", "/geo/status", "Report the status of a secondary"),
    ("GET", "/geo/retrieve/{replicable_name}/{*replicable_id}", "Fetch a file for a secondary"),
    ("GET", "/application/plan_limits", "Get the limits of pipelines, logs and variables"),
    ("PUT", "/application/plan_limits", "Change the limits of pipelines, logs and variables"),
    ("POST", "/application/plan_limits", "Set the limits of pipelines, logs and variables"),
    ("POST", "/vulnerabilities/{id}/revert", "Set a vulnerability back to detected"),
    ("GET", "/job/allowed_agents", "List the agents that the job of a token may use"),
    ("GET", "/projects/{id}/job_token_scope", "Show the job token scope of a project"),
    ("PATCH", "/projects/{id}/job_token_scope", "Change the job token scope of a project"),
    (
        "GET",
        "/projects/{id}/job_token_scope/allowlist",
        "List the projects in the job token allowlist",
    ),
    (
        "POST",
        "/projects/{id}/job_token_scope/allowlist",
        "Add a project to the job token allowlist",
    ),
    (
        "DELETE",
        "/projects/{id}/job_token_scope/allowlist/{target_project_id}",
        "Remove a project from the job token allowlist",
    ),
    (
        "GET",
        "/projects/{id}/job_token_scope/groups_allowlist",
        "List the groups in the job token allowlist",
    ),
    (
        "POST",
        "/projects/{id}/job_token_scope/groups_allowlist",
        "Add a group to the job token allowlist",
    ),
    (
        "DELETE",
        "/projects/{id}/job_token_scope/groups_allowlist/{target_group_id}",
        "Remove a group from the job token allowlist",
    ),
    ("GET", "/runners/all", "List all runners"),
    ("POST", "/runners/reset_registration_token", "Reset the registration token of the instance"),
    (
        "POST",
        "/projects/{id}/runners/reset_registration_token",
        "Reset the registration token of a project",
    ),
    (
        "POST",
        "/groups/{id}/runners/reset_registration_token",
        "Reset the registration token of a group",
    ),
    ("POST", "/runners/{runner_id}/reset_authentication_token", "Reset the token of a runner"),
    ("GET", "/runners/{runner_id}/managers", "List the managers of a runner"),
    ("POST", "/user/runners", "Create a runner"),
    ("POST", "/projects/{id}/runners", "Assign a runner to a project"),
    ("DELETE", "/projects/{id}/runners/{runner_id}", "Unassign a runner from a project"),
    ("POST", "/runners", "Register a runner"),
    ("DELETE", "/runners", "Delete the runner that has a token"),
    ("POST", "/runners/verify", "Verify the token of a runner"),
    ("POST", "/runners/reset_authentication_token", "Reset the token of a runner by this token"),
    ("DELETE", "/runners/managers", "Delete a manager of the runner that has a token"),
    ("GET", "/runners/router/discovery", "Discover the job router (there is none)"),
    ("POST", "/jobs/request", "Request a job"),
    ("PUT", "/jobs/{job_id}", "Report the state of a job"),
    ("PATCH", "/jobs/{job_id}/trace", "Append to the log of a job"),
    ("POST", "/jobs/{job_id}/artifacts", "Upload an artifact of a job"),
    ("GET", "/jobs/{job_id}/artifacts", "Download the artifacts of a job, as a runner"),
    ("POST", "/jobs/{job_id}/artifacts/authorize", "Check whether an artifact may be uploaded"),
    ("GET", "/projects/{id}/jobs/{job_id}/trace", "Get the log of a job"),
    ("GET", "/projects/{id}/jobs/{job_id}/artifacts", "Download the artifacts of a job"),
    (
        "GET",
        "/projects/{id}/jobs/{job_id}/artifacts/{*path}",
        "Download a file of the artifacts of a job",
    ),
    (
        "GET",
        "/projects/{id}/jobs/artifacts/{ref}/download",
        "Download the artifacts of the latest job of a ref",
    ),
    (
        "GET",
        "/projects/{id}/jobs/artifacts/{ref}/raw/{*path}",
        "Download a file of the artifacts of the latest job of a ref",
    ),
    ("POST", "/projects/{id}/jobs/{job_id}/artifacts/keep", "Keep the artifacts of a job"),
    ("DELETE", "/projects/{id}/jobs/{job_id}/artifacts", "Delete the artifacts of a job"),
    ("DELETE", "/projects/{id}/artifacts", "Delete the artifacts of a project"),
    ("GET", "/admin/ci/variables", "List CI/CD variables of the instance"),
    ("POST", "/admin/ci/variables", "Create a CI/CD variable of the instance"),
    ("GET", "/admin/ci/variables/{key}", "Get a CI/CD variable of the instance"),
    ("PUT", "/admin/ci/variables/{key}", "Change a CI/CD variable of the instance"),
    ("DELETE", "/admin/ci/variables/{key}", "Delete a CI/CD variable of the instance"),
    ("POST", "/projects/{id}/pipeline/latest", "Get the latest pipeline of a project (older URL)"),
    ("POST", "/projects/{id}/trigger/pipeline", "Run a pipeline with a trigger token"),
    (
        "POST",
        "/projects/{id}/ref/{ref}/trigger/pipeline",
        "Run a pipeline of a ref with a trigger token",
    ),
    ("GET", "/admin/integrations", "List the integrations of the instance"),
    ("GET", "/admin/integrations/{slug}", "Get an integration of the instance"),
    ("PUT", "/admin/integrations/{slug}", "Set an integration of the instance"),
    ("DELETE", "/admin/integrations/{slug}", "Switch off an integration of the instance"),
    ("GET", "/geo/status", "Get the status of this node for another one"),
    ("GET", "/groups/{id}/-/packages/maven/{*path}", "Download a Maven package through a group"),
    (
        "GET",
        "/groups/{id}/-/packages/npm/{*package_name}",
        "Get the metadata of an npm package through a group",
    ),
    (
        "GET",
        "/groups/{id}/-/packages/pypi/simple/{*package_name}",
        "List the files of a PyPI package through a group",
    ),
    ("GET", "/packages/maven/{*path}", "Download a Maven package"),
    ("GET", "/packages/npm/{*package_name}", "Get the metadata of an npm package"),
    ("GET", "/projects/{id}/packages/maven/{*path}", "Download a Maven package through a project"),
    (
        "GET",
        "/projects/{id}/packages/npm/{*package_name}",
        "Get the metadata of an npm package through a project",
    ),
    (
        "GET",
        "/projects/{id}/packages/pypi/simple/{*package_name}",
        "List the files of a PyPI package through a project",
    ),
    ("GET", "//", "Get the start page"),
    ("GET", "//-/api", "Explore the API in a browser"),
    ("GET", "//-/health", "Check that the server answers"),
    ("GET", "//-/invites/{token}", "Show an invitation"),
    ("POST", "//-/invites/{token}", "Accept an invitation"),
    ("GET", "//-/liveness", "Check that the process runs"),
    ("GET", "//-/metrics", "Get metrics for Prometheus"),
    ("GET", "//-/readiness", "Check that requests can be served"),
    ("GET", "//-/profile/emails/confirmation", "Confirm an email address"),
    ("GET", "/application/appearance", "Get the appearance of the instance"),
    ("PUT", "/application/appearance", "Change the appearance of the instance"),
    ("GET", "/application/statistics", "Get the numbers of things in the instance"),
    ("GET", "/features/definitions", "List the definitions of features"),
    ("GET", "/application/settings", "Get the settings of the instance"),
    ("PUT", "/application/settings", "Change the settings of the instance"),
    ("GET", "/avatar", "Get the avatar that belongs to an email address"),
    ("GET", "/events", "List events of the caller"),
    ("GET", "/groups/{id}/members/all", "List direct and inherited members of a group"),
    ("GET", "/projects/{id}/members/all", "List direct and inherited members of a project"),
    ("GET", "/groups/{id}/members/all/{user_id}", "Get a direct or inherited member of a group"),
    (
        "GET",
        "/projects/{id}/members/all/{user_id}",
        "Get a direct or inherited member of a project",
    ),
    ("POST", "/groups/{id}/members/approve_all", "Approve all pending members of a group"),
    ("PUT", "/groups/{id}/members/{member_id}/approve", "Approve a pending member of a group"),
    ("POST", "/groups/{id}/projects/{project_id}", "Transfer a project to a group"),
    ("GET", "/groups/{id}/projects/shared", "List projects that are shared with a group"),
    ("DELETE", "/groups/{id}/share/{group_id}", "End the sharing of a group with a group"),
    ("DELETE", "/projects/{id}/share/{group_id}", "End the sharing of a project with a group"),
    (
        "DELETE",
        "/groups/{id}/ldap_group_links/{cn}",
        "Delete an LDAP link of a group by its common name",
    ),
    ("DELETE", "/groups/{id}/ldap_group_links", "Delete an LDAP link of a group by its filter"),
    ("PUT", "/groups/{id}/labels", "Change a label of a group by its name"),
    ("PUT", "/projects/{id}/labels", "Change a label of a project by its name"),
    ("DELETE", "/groups/{id}/labels", "Delete a label of a group by its name"),
    ("DELETE", "/projects/{id}/labels", "Delete a label of a project by its name"),
    ("GET", "/openapi.json", "Get this document"),
    ("POST", "/markdown", "Render Markdown as HTML"),
    ("GET", "/keys", "Find the owner of an SSH key by its fingerprint"),
    ("GET", "/personal_access_tokens/self", "Get the token of the request"),
    ("DELETE", "/personal_access_tokens/self", "Revoke the token of the request"),
    ("POST", "/personal_access_tokens/self/rotate", "Rotate the token of the request"),
    ("POST", "/projects/user/{user_id}", "Create a project for a user"),
    ("POST", "/projects/{id}/fork/{forked_from_id}", "Set which project a project is a fork of"),
    ("POST", "/projects/{id}/statuses/{sha}", "Report the status of a commit"),
    ("GET", "/projects/{id}/pipeline/latest", "Get the latest pipeline of a project (older URL)"),
    ("GET", "/projects/{id}/pipelines/latest", "Get the latest pipeline of a project"),
    ("POST", "/projects/{id}/pipelines/latest", "Get the latest pipeline of a project"),
    (
        "PUT",
        "/projects/{id}/pipelines/{pipeline_id}/metadata",
        "Change the name of a pipeline of a project",
    ),
    ("GET", "/projects/{id}/repository/blobs/{sha}/raw", "Get the raw contents of a blob"),
    ("GET", "/projects/{id}/users", "List users who can reach a project"),
    ("GET", "/projects/{id}/groups", "List groups above a project and groups it is shared with"),
    ("GET", "/projects/{id}/uploads/{secret}/{filename}", "Download an uploaded file of a project"),
    ("POST", "/groups/{id}/epics/{epic_iid}/issues/{issue_id}", "Add an issue to an epic"),
    (
        "PUT",
        "/groups/{id}/epics/{epic_iid}/issues/{epic_issue_id}",
        "Change the position of an issue in an epic",
    ),
    (
        "DELETE",
        "/groups/{id}/epics/{epic_iid}/issues/{epic_issue_id}",
        "Remove an issue from an epic",
    ),
    ("GET", "/groups/{id}/epics/{epic_iid}/epics", "List child epics of an epic"),
    ("POST", "/groups/{id}/epics/{epic_iid}/epics", "Create a child epic of an epic"),
    (
        "POST",
        "/groups/{id}/epics/{epic_iid}/epics/{child_epic_id}",
        "Make an epic the child of an epic",
    ),
    (
        "PUT",
        "/groups/{id}/epics/{epic_iid}/epics/{child_epic_id}",
        "Change the position of a child epic",
    ),
    (
        "DELETE",
        "/groups/{id}/epics/{epic_iid}/epics/{child_epic_id}",
        "Remove a child epic from an epic",
    ),
    ("POST", "/todos/mark_as_done", "Mark all to-dos of the caller as done"),
    ("GET", "/user/activities", "List when users were last active"),
    ("GET", "//-/group/{id}/page", "Show the API URL of a group"),
    ("GET", "//-/group/{id}/page/{thing}", "Show the API URL of a resource of a group"),
    ("GET", "//-/group/{id}/wikis/{file_path}", "Download a file of a group's wiki"),
    ("GET", "//-/project/{id}/archive/{place}", "Download an archive by its web URL"),
    ("GET", "//-/project/{id}/page", "Show the API URL of a project"),
    ("GET", "//-/project/{id}/page/{thing}", "Show the API URL of a resource of a project"),
    ("GET", "//-/project/{id}/raw/{place}", "Download a file by its web URL"),
    ("GET", "//-/user/{username}/page", "Show the API URL of a user"),
    ("GET", "//-/project/{id}/wikis/{file_path}", "Download a file of a project's wiki"),
    (
        "GET",
        "//-/project/{id}/uploads/{secret}/{filename}",
        "Download an uploaded file of a project by its web URL",
    ),
    ("POST", "/ci/lint", "Check a CI configuration"),
    ("GET", "/projects/{id}/ci/lint", "Check the CI configuration of a project"),
    ("POST", "/projects/{id}/ci/lint", "Check a CI configuration as if it were a project's"),
    ("POST", "//oauth/token", "Get an access token"),
    ("POST", "//oauth/revoke", "Revoke an access token"),
    ("POST", "//oauth/introspect", "Check whether an access token works"),
    ("GET", "//oauth/authorize", "Show the page on which a user authorizes an application"),
    ("POST", "//oauth/authorize", "Authorize an application"),
    ("GET", "//oauth/applications", "List the OAuth applications of the user"),
    ("POST", "//oauth/applications", "Create an OAuth application of the user"),
    ("DELETE", "//oauth/applications/{id}", "Delete an OAuth application of the user"),
    ("POST", "//-/abuse_reports", "Report a user for abuse"),
    ("GET", "//help", "Show where people find help"),
    ("GET", "//oauth/token/info", "Get information about an access token"),
    ("GET", "//oauth/discovery/keys", "List the keys that sign ID tokens"),
    ("GET", "//oauth/userinfo", "Get the user of an access token as OpenID Connect claims"),
    ("POST", "//oauth/userinfo", "Get the user of an access token as OpenID Connect claims"),
    ("GET", "//.well-known/openid-configuration", "Get the OpenID Connect provider metadata"),
    (
        "GET",
        "//uploads/-/system/appearance/{picture}/{appearance_id}/{filename}",
        "Download a picture of the instance",
    ),
    ("GET", "//uploads/-/system/group/avatar/{id}/{filename}", "Download the avatar of a group"),
    (
        "GET",
        "//uploads/-/system/project/avatar/{id}/{filename}",
        "Download the avatar of a project",
    ),
    (
        "POST",
        "/projects/{id}/alert_management_alerts/{alert_iid}/metric_images",
        "Add a metric image to an alert",
    ),
    (
        "POST",
        "/projects/{id}/alert_management_alerts/{alert_iid}/metric_images/authorize",
        "Check whether a metric image may be added to an alert",
    ),
    (
        "GET",
        "//uploads/-/system/alert_management_metric_image/file/{metric_image_id}/{filename}",
        "Download a metric image of an alert",
    ),
    (
        "GET",
        "//uploads/-/system/projects/topic/avatar/{topic_id}/{filename}",
        "Download the avatar of a topic",
    ),
    ("GET", "//uploads/-/system/user/avatar/{id}/{filename}", "Download the avatar of a user"),
    ("GET", "//uploads/{secret}/{filename}", "Download an uploaded file"),
    ("GET", "//users/confirmation", "Confirm the email address of an account"),
    ("POST", "//users/confirmation", "Send the confirmation email again"),
    ("GET", "//users/confirmation/new", "Show the form for another confirmation email"),
    ("POST", "//users/password", "Send a link for a new password"),
    ("GET", "//users/password/edit", "Show the form for a new password"),
    ("POST", "//users/password/edit", "Set a new password"),
    ("GET", "//users/password/new", "Show the form for a forgotten password"),
    ("GET", "//users/sign_in", "Show the form for signing in"),
    ("POST", "//users/sign_in", "Sign in with a browser"),
    ("GET", "//users/sign_out", "Show the form for signing out"),
    ("POST", "//users/sign_out", "Sign out with a browser"),
    ("GET", "//users/sign_up", "Show the form for a new account"),
    ("POST", "//users/sign_up", "Make an account for oneself"),
    (
        "POST",
        "/projects/{id}/hooks/{hook_id}/test/{trigger}",
        "Send a test event to a webhook of a project",
    ),
    (
        "GET",
        "/projects/{id}/hooks/{hook_id}/events",
        "List the deliveries of a webhook of a project",
    ),
    (
        "POST",
        "/projects/{id}/hooks/{hook_id}/events/{hook_log_id}/resend",
        "Send a delivery of a webhook of a project again",
    ),
    (
        "POST",
        "/groups/{id}/hooks/{hook_id}/test/{trigger}",
        "Send a test event to a webhook of a group",
    ),
    ("GET", "/groups/{id}/hooks/{hook_id}/events", "List the deliveries of a webhook of a group"),
    (
        "POST",
        "/groups/{id}/hooks/{hook_id}/events/{hook_log_id}/resend",
        "Send a delivery of a webhook of a group again",
    ),
    (
        "POST",
        "/projects/{id}/integrations/slack_slash_commands/trigger",
        "Run a slash command from Slack",
    ),
    (
        "POST",
        "/projects/{id}/integrations/mattermost_slash_commands/trigger",
        "Run a slash command from Mattermost",
    ),
    (
        "POST",
        "/projects/{id}/services/slack_slash_commands/trigger",
        "Run a slash command from Slack (older URL)",
    ),
    (
        "POST",
        "/projects/{id}/services/mattermost_slash_commands/trigger",
        "Run a slash command from Mattermost (older URL)",
    ),
    (
        "POST",
        "/projects/{id}/integrations/slack-slash-commands/trigger",
        "Run a slash command from Slack (name with dashes)",
    ),
    (
        "POST",
        "/projects/{id}/integrations/mattermost-slash-commands/trigger",
        "Run a slash command from Mattermost (name with dashes)",
    ),
    (
        "POST",
        "/projects/{id}/services/slack-slash-commands/trigger",
        "Run a slash command from Slack (name with dashes, older URL)",
    ),
    (
        "POST",
        "/projects/{id}/services/mattermost-slash-commands/trigger",
        "Run a slash command from Mattermost (name with dashes, older URL)",
    ),
    ("GET", "/hooks", "List system hooks"),
    ("POST", "/hooks", "Create a system hook"),
    ("GET", "/hooks/{hook_id}", "Get a system hook"),
    ("PUT", "/hooks/{hook_id}", "Change a system hook"),
    ("POST", "/hooks/{hook_id}", "Send a test event to a system hook"),
    ("DELETE", "/hooks/{hook_id}", "Delete a system hook"),
    ("GET", "//-/project/{id}/releases/{place}", "Redirect to the file of a link of a release"),
    ("GET", "/projects/{id}/releases/permalink/latest", "Get the newest release of a project"),
    (
        "GET",
        "/projects/{id}/releases/{tag_name}/downloads/{*direct_asset_path}",
        "Redirect to the file of a link of a release",
    ),
    ("GET", "/projects/{id}/releases/{tag_name}/assets/links", "List links of a release"),
    ("POST", "/projects/{id}/releases/{tag_name}/assets/links", "Create a link of a release"),
    ("GET", "/projects/{id}/releases/{tag_name}/assets/links/{link_id}", "Get a link of a release"),
    (
        "PUT",
        "/projects/{id}/releases/{tag_name}/assets/links/{link_id}",
        "Change a link of a release",
    ),
    (
        "DELETE",
        "/projects/{id}/releases/{tag_name}/assets/links/{link_id}",
        "Delete a link of a release",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operation_is_named_by_method_and_pattern() {
        assert_eq!(
            operation_id("GET", "/api/v4/projects/{id}/repository/archive.tar.gz"),
            "getApiV4ProjectsIdRepositoryArchiveTarGz"
        );
        assert_eq!(operation_id("GET", "/"), "getRoot");
    }

    #[test]
    fn a_summary_names_the_thing_and_what_it_belongs_to() {
        let of_notes = "/projects/{id}/issues/{issue_iid}/notes";
        assert_eq!(summary("GET", of_notes).unwrap(), "List notes of an issue of a project");
        assert_eq!(
            summary("PUT", &format!("{of_notes}/{{note_id}}")).unwrap(),
            "Change a note of an issue"
        );
        assert_eq!(summary("POST", "/projects/{id}/archive").unwrap(), "Archive a project");
        assert_eq!(summary("GET", "/projects/{id}/unknown"), None);
    }
}
