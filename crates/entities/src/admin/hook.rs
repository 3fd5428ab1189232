//! A webhook of a project or group, and a system hook. Tokens and values are never shown.

use std::collections::BTreeSet;

use admin::{
    flags::Flag,
    hook::{AlertStatus, BranchStrategy, Hook},
    owner::Owner,
};
use kernel::{Result, Ts};
use secrets::Vault;
use serde::Serialize;
use utoipa::ToSchema;

/// Name of a URL variable or custom header; its value is never returned.
#[derive(Debug, Serialize, ToSchema)]
pub struct KeyEntity {
    pub key: String,
}

/// Fields common to all webhooks.
#[derive(Debug, Serialize, ToSchema)]
pub struct HookBasics {
    pub id: i64,
    pub url: String,
    pub name: Option<String>,
    pub description: Option<String>,
    #[schema(value_type = String)]
    pub created_at: Ts,
    pub push_events: bool,
    pub tag_push_events: bool,
    pub merge_requests_events: bool,
    pub repository_update_events: bool,
    pub enable_ssl_verification: bool,
    #[schema(value_type = String)]
    pub alert_status: AlertStatus,
    #[schema(value_type = Option<String>)]
    pub disabled_until: Option<Ts>,
    /// URL variables of the webhook, by name. Absent in lists of project webhooks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url_variables: Option<Vec<KeyEntity>>,
}

/// A system hook.
#[derive(Debug, Serialize, ToSchema)]
pub struct SystemHookEntity {
    #[serde(flatten)]
    pub basics: HookBasics,
}

/// A webhook of a project or group.
#[derive(Debug, Serialize, ToSchema)]
pub struct HookEntity {
    #[serde(flatten)]
    pub basics: HookBasics,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project_id: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group_id: Option<i64>,
    pub issues_events: bool,
    pub confidential_issues_events: bool,
    pub note_events: bool,
    pub confidential_note_events: bool,
    pub pipeline_events: bool,
    pub wiki_page_events: bool,
    pub deployment_events: bool,
    pub feature_flag_events: bool,
    pub job_events: bool,
    pub releases_events: bool,
    pub milestone_events: bool,
    pub emoji_events: bool,
    pub resource_access_token_events: bool,
    /// Hooks of groups only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub member_events: Option<bool>,
    pub vulnerability_events: bool,
    /// Hooks of groups only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subgroup_events: Option<bool>,
    /// Hooks of groups only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project_events: Option<bool>,
    /// Hooks of projects only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub push_events_branch_filter: Option<Option<String>>,
    #[schema(value_type = String)]
    pub branch_filter_strategy: BranchStrategy,
    pub custom_webhook_template: Option<String>,
    pub custom_headers: Vec<KeyEntity>,
}

/// Payload of a system hook's test event.
#[derive(Debug, Serialize, ToSchema)]
pub struct ExampleEntity {
    pub event_name: String,
    pub name: String,
    pub path: String,
    pub project_id: i64,
    pub owner_name: String,
    pub owner_email: String,
}

impl ExampleEntity {
    /// Of the payload that was sent.
    pub fn new(payload: &serde_json::Value) -> Self {
        let text = |key: &str| payload[key].as_str().unwrap_or_default().to_owned();
        Self {
            event_name: text("event_name"),
            name: text("name"),
            path: text("path"),
            project_id: payload["project_id"].as_i64().unwrap_or_default(),
            owner_name: text("owner_name"),
            owner_email: text("owner_email"),
        }
    }
}

/// Confirmation of an action.
#[derive(Debug, Serialize, ToSchema)]
pub struct DoneEntity {
    pub message: &'static str,
}

fn keys(names: BTreeSet<String>) -> Vec<KeyEntity> {
    names.into_iter().map(|key| KeyEntity { key }).collect()
}

/// Whether the names of variables are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    Short,
    Full,
}

impl HookBasics {
    pub fn new(vault: &Vault, row: &Hook, detail: Detail, now: Ts) -> Result<Self> {
        let secrets = row.secrets(vault)?;
        let names = (detail == Detail::Full).then(|| secrets.url_variable_names());
        Ok(Self {
            id: row.id.0,
            url: secrets.url,
            name: row.name.clone(),
            description: row.description.clone(),
            created_at: row.created_at,
            push_events: row.flags.has(Flag::Push),
            tag_push_events: row.flags.has(Flag::TagPush),
            merge_requests_events: row.flags.has(Flag::MergeRequests),
            repository_update_events: row.flags.has(Flag::RepositoryUpdate),
            enable_ssl_verification: row.enable_ssl_verification,
            alert_status: row.alert_status(now),
            disabled_until: row.disabled_until,
            url_variables: names.map(keys),
        })
    }
}

impl SystemHookEntity {
    pub fn new(vault: &Vault, row: &Hook, _: Detail, now: Ts) -> Result<Self> {
        Ok(Self { basics: HookBasics::new(vault, row, Detail::Full, now)? })
    }
}

impl HookEntity {
    pub fn new(vault: &Vault, row: &Hook, detail: Detail, now: Ts) -> Result<Self> {
        let has = |flag| row.flags.has(flag);
        let is_group = matches!(row.home(), Owner::Group(_));
        Ok(Self {
            basics: HookBasics::new(vault, row, detail, now)?,
            project_id: row.project_id.map(|id| id.0),
            group_id: row.namespace_id.map(|id| id.0),
            issues_events: has(Flag::Issues),
            confidential_issues_events: has(Flag::ConfidentialIssues),
            note_events: has(Flag::Notes),
            confidential_note_events: has(Flag::ConfidentialNotes),
            pipeline_events: has(Flag::Pipelines),
            wiki_page_events: has(Flag::WikiPages),
            deployment_events: has(Flag::Deployments),
            feature_flag_events: has(Flag::FeatureFlags),
            job_events: has(Flag::Jobs),
            releases_events: has(Flag::Releases),
            milestone_events: has(Flag::Milestones),
            emoji_events: has(Flag::Emoji),
            resource_access_token_events: has(Flag::ResourceAccessTokens),
            member_events: is_group.then(|| has(Flag::Members)),
            vulnerability_events: has(Flag::Vulnerabilities),
            subgroup_events: is_group.then(|| has(Flag::Subgroups)),
            project_events: is_group.then(|| has(Flag::Projects)),
            push_events_branch_filter: (!is_group).then(|| row.push_events_branch_filter.clone()),
            branch_filter_strategy: row.branch_filter_strategy,
            custom_webhook_template: row.custom_webhook_template.clone(),
            custom_headers: keys(row.secrets(vault)?.custom_header_names()),
        })
    }
}
