//! An integration. Secrets are never shown.

use admin::{
    flags::Flag,
    integration::{EffectiveIntegration, Values},
};
use kernel::{Result, Ts};
use serde::Serialize;
use utoipa::ToSchema;

#[derive(Debug, Serialize, ToSchema)]
pub struct IntegrationEntity {
    pub id: i64,
    pub title: &'static str,
    pub slug: String,
    #[schema(value_type = String)]
    pub created_at: Ts,
    #[schema(value_type = String)]
    pub updated_at: Ts,
    pub active: bool,
    pub commit_events: bool,
    pub push_events: bool,
    pub issues_events: bool,
    pub incident_events: bool,
    pub alert_events: bool,
    pub confidential_issues_events: bool,
    pub merge_requests_events: bool,
    pub tag_push_events: bool,
    pub deployment_events: bool,
    pub note_events: bool,
    pub confidential_note_events: bool,
    pub pipeline_events: bool,
    pub wiki_page_events: bool,
    pub job_events: bool,
    pub comment_on_event_enabled: bool,
    /// Whether the integration's settings are inherited from an ancestor group or the instance.
    pub inherited: bool,
}

/// An integration with its settings.
#[derive(Debug, Serialize, ToSchema)]
pub struct IntegrationSettingsEntity {
    #[serde(flatten)]
    pub basics: IntegrationEntity,
    /// Parameters of the kind that are no secrets.
    #[schema(value_type = Object)]
    pub properties: Values,
}

impl IntegrationEntity {
    pub fn new(one: &EffectiveIntegration) -> Self {
        Self {
            id: one.row.id.0,
            title: one.row.kind().map_or("", |kind| kind.title),
            slug: one.row.slug.clone(),
            created_at: one.row.created_at,
            updated_at: one.row.updated_at,
            active: one.row.active,
            commit_events: one.has(Flag::Commits),
            push_events: one.has(Flag::Push),
            issues_events: one.has(Flag::Issues),
            incident_events: one.has(Flag::Incidents),
            alert_events: one.has(Flag::Alerts),
            confidential_issues_events: one.has(Flag::ConfidentialIssues),
            merge_requests_events: one.has(Flag::MergeRequests),
            tag_push_events: one.has(Flag::TagPush),
            deployment_events: one.has(Flag::Deployments),
            note_events: one.has(Flag::Notes),
            confidential_note_events: one.has(Flag::ConfidentialNotes),
            pipeline_events: one.has(Flag::Pipelines),
            wiki_page_events: one.has(Flag::WikiPages),
            job_events: one.has(Flag::Jobs),
            comment_on_event_enabled: one.has(Flag::Comments),
            inherited: one.is_inherited,
        }
    }
}

impl IntegrationSettingsEntity {
    pub fn new(one: &EffectiveIntegration) -> Result<Self> {
        Ok(Self { basics: IntegrationEntity::new(one), properties: one.source.properties()? })
    }
}

/// Message posted in reply to a chat command.
#[derive(Debug, Serialize, ToSchema)]
pub struct ReplyEntity {
    pub response_type: &'static str,
    pub text: String,
}
