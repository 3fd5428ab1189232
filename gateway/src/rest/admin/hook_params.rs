//! Parameters of webhooks.

use std::collections::BTreeMap;

use admin::{
    delivery::StatusFilter,
    flags::Flag,
    hook::{BranchStrategy, actions::HookChange},
};
use kernel::{TextEnum as _, ids::HookId};
use serde_json::{Value, json};

use crate::{
    extract::{Change, Param, ParamErrors, Raw, params::NOT_LISTED},
    param_enums, params,
};

param_enums! { BranchStrategy }

params! {
    pub struct OneHook {
        hook_id: HookId,
    }
}

params! {
    pub struct Pair {
        key: String,
        value: String,
    }
}

params! {
    pub struct HookUrl {
        /// May name URL variables: `https://example.com/{key}`.
        url: String,
    }
}

params! {
    pub struct HookFields {
        name: Change<String>,
        description: Change<String>,
        /// Sent in the header `X-Gitlab-Token`. Never shown.
        token: Change<String>,
        push_events: Option<bool>,
        push_events_branch_filter: Change<String>,
        /// How `push_events_branch_filter` is read.
        branch_filter_strategy: Option<BranchStrategy>,
        tag_push_events: Option<bool>,
        merge_requests_events: Option<bool>,
        repository_update_events: Option<bool>,
        issues_events: Option<bool>,
        confidential_issues_events: Option<bool>,
        note_events: Option<bool>,
        confidential_note_events: Option<bool>,
        pipeline_events: Option<bool>,
        wiki_page_events: Option<bool>,
        deployment_events: Option<bool>,
        /// Stored only: projects have no feature flags.
        feature_flag_events: Option<bool>,
        job_events: Option<bool>,
        releases_events: Option<bool>,
        milestone_events: Option<bool>,
        emoji_events: Option<bool>,
        /// Access tokens of the project or group that expire within a week.
        resource_access_token_events: Option<bool>,
        member_events: Option<bool>,
        vulnerability_events: Option<bool>,
        /// Hooks of groups only.
        subgroup_events: Option<bool>,
        /// Hooks of groups only.
        project_events: Option<bool>,
        enable_ssl_verification: Option<bool>,
        /// Template of the body, with `{{path.to.value}}`.
        custom_webhook_template: Change<String>,
        /// Merged into those that are stored.
        url_variables: Option<Vec<Pair>>,
        /// Replaces those that are stored.
        custom_headers: Option<Vec<Pair>>,
    }
}

params! {
    pub struct NewUrl {
        url: Option<String>,
    }
}

fn pairs(given: Vec<Pair>) -> BTreeMap<String, String> {
    given.into_iter().map(|pair| (pair.key, pair.value)).collect()
}

impl HookFields {
    pub fn into_change(self, url: Option<String>) -> HookChange {
        let flags = [
            (Flag::Push, self.push_events),
            (Flag::TagPush, self.tag_push_events),
            (Flag::MergeRequests, self.merge_requests_events),
            (Flag::RepositoryUpdate, self.repository_update_events),
            (Flag::Issues, self.issues_events),
            (Flag::ConfidentialIssues, self.confidential_issues_events),
            (Flag::Notes, self.note_events),
            (Flag::ConfidentialNotes, self.confidential_note_events),
            (Flag::Pipelines, self.pipeline_events),
            (Flag::WikiPages, self.wiki_page_events),
            (Flag::Deployments, self.deployment_events),
            (Flag::FeatureFlags, self.feature_flag_events),
            (Flag::Jobs, self.job_events),
            (Flag::Releases, self.releases_events),
            (Flag::Milestones, self.milestone_events),
            (Flag::Emoji, self.emoji_events),
            (Flag::ResourceAccessTokens, self.resource_access_token_events),
            (Flag::Members, self.member_events),
            (Flag::Vulnerabilities, self.vulnerability_events),
            (Flag::Subgroups, self.subgroup_events),
            (Flag::Projects, self.project_events),
        ];
        HookChange {
            url,
            token: self.token.into_update(),
            name: self.name.into_update(),
            description: self.description.into_update(),
            flags: flags.into_iter().filter_map(|(flag, on)| Some((flag, on?))).collect(),
            enable_ssl_verification: self.enable_ssl_verification,
            branch_filter_strategy: self.branch_filter_strategy,
            push_events_branch_filter: self.push_events_branch_filter.into_update(),
            custom_webhook_template: self.custom_webhook_template.into_update(),
            url_variables: self.url_variables.map(pairs),
            custom_headers: self.custom_headers.map(pairs),
        }
    }
}

/// The names of all that can be changed.
pub const CHANGEABLE: [&str; 31] = [
    "url",
    "name",
    "description",
    "token",
    "push_events",
    "push_events_branch_filter",
    "branch_filter_strategy",
    "tag_push_events",
    "merge_requests_events",
    "repository_update_events",
    "issues_events",
    "confidential_issues_events",
    "note_events",
    "confidential_note_events",
    "pipeline_events",
    "wiki_page_events",
    "deployment_events",
    "feature_flag_events",
    "job_events",
    "releases_events",
    "milestone_events",
    "emoji_events",
    "resource_access_token_events",
    "member_events",
    "vulnerability_events",
    "subgroup_events",
    "project_events",
    "enable_ssl_verification",
    "custom_webhook_template",
    "url_variables",
    "custom_headers",
];

/// An event that can be tried out.
#[derive(Clone, Copy, Debug)]
pub struct Trigger(pub Flag);

/// Those that the API names.
const TRIGGERS: [Flag; 20] = [
    Flag::ConfidentialIssues,
    Flag::ConfidentialNotes,
    Flag::Deployments,
    Flag::Emoji,
    Flag::FeatureFlags,
    Flag::Issues,
    Flag::Jobs,
    Flag::Members,
    Flag::MergeRequests,
    Flag::Milestones,
    Flag::Notes,
    Flag::Pipelines,
    Flag::Projects,
    Flag::Push,
    Flag::Releases,
    Flag::ResourceAccessTokens,
    Flag::Subgroups,
    Flag::TagPush,
    Flag::Vulnerabilities,
    Flag::WikiPages,
];

impl Param for Trigger {
    fn read(raw: &Raw) -> Result<Option<Self>, ParamErrors> {
        let Some(text) = String::read(raw)? else { return Ok(None) };
        let found = TRIGGERS.into_iter().find(|flag| flag.as_str() == text);
        found.map(|flag| Some(Self(flag))).ok_or(ParamErrors::one(NOT_LISTED))
    }

    fn schema() -> Value {
        json!({ "type": "string", "enum": TRIGGERS.map(Flag::as_str) })
    }
}

/// A status code, or `successful`, `client_failure`, `server_failure`.
#[derive(Clone, Copy, Debug)]
pub struct Status(pub StatusFilter);

impl Param for Status {
    fn read(raw: &Raw) -> Result<Option<Self>, ParamErrors> {
        let Some(text) = String::read(raw)? else { return Ok(None) };
        let filter = match text.as_str() {
            "successful" => StatusFilter::Successful,
            "client_failure" => StatusFilter::ClientFailure,
            "server_failure" => StatusFilter::ServerFailure,
            code => match code.parse() {
                Ok(code @ 100..=599) => StatusFilter::Code(code),
                _ => return Err(ParamErrors::one(NOT_LISTED)),
            },
        };
        Ok(Some(Self(filter)))
    }

    fn schema() -> Value {
        json!({ "type": "string" })
    }
}
