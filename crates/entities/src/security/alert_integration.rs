//! An integration that sends alerts.

use forge::urls::Urls;
use kernel::{Result, Ts};
use secrets::Vault;
use security::{
    alert::AlertSettings,
    integration::{AlertField, AlertIntegration, IntegrationKind, MappedType, Mapping},
};
use serde::Serialize;
use utoipa::ToSchema;

#[derive(Debug, Serialize, ToSchema)]
pub struct AlertIntegrationEntity {
    pub id: i64,
    #[schema(value_type = String)]
    pub r#type: IntegrationKind,
    pub name: String,
    pub active: bool,
    /// URL to which alerts are sent.
    pub url: String,
    /// Authorization key for sending alerts.
    pub token: String,
    pub payload_attribute_mappings: Vec<MappingEntity>,
    /// JSON as it is sent.
    pub payload_example: Option<String>,
    #[schema(value_type = String)]
    pub created_at: Ts,
    #[schema(value_type = String)]
    pub updated_at: Ts,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct MappingEntity {
    #[schema(value_type = String)]
    pub field_name: AlertField,
    pub path: Vec<String>,
    #[schema(value_type = String)]
    pub r#type: MappedType,
    pub label: Option<String>,
}

impl From<(AlertField, Mapping)> for MappingEntity {
    fn from((field_name, mapping): (AlertField, Mapping)) -> Self {
        let Mapping { path, kind, label } = mapping;
        Self { field_name, path, r#type: kind, label }
    }
}

impl AlertIntegrationEntity {
    /// `project` is its full path.
    pub fn new(urls: &Urls, vault: &Vault, project: &str, row: &AlertIntegration) -> Result<Self> {
        let mapped = row.mapped_fields()?.into_iter();
        let url = format!("{project}/alerts/notify/{}/{}.json", row.slug(), row.endpoint);
        Ok(Self {
            id: row.id.0,
            r#type: row.kind,
            name: row.name.clone(),
            active: row.active,
            url: urls.at(&url),
            token: row.key(vault)?.reveal().to_owned(),
            payload_attribute_mappings: mapped.map(MappingEntity::from).collect(),
            payload_example: row.payload_example.clone(),
            created_at: row.created_at,
            updated_at: row.updated_at,
        })
    }
}

/// Alert settings of a project.
#[derive(Debug, Serialize, ToSchema)]
pub struct AlertSettingsEntity {
    pub create_issue: bool,
    pub send_email: bool,
    pub auto_close_incident: bool,
    /// The template of an issue with which the text of an incident ends.
    pub issue_template_key: Option<String>,
}

impl From<AlertSettings> for AlertSettingsEntity {
    fn from(settings: AlertSettings) -> Self {
        let AlertSettings { create_issue, send_email, auto_close_incident, issue_template_key } =
            settings;
        Self { create_issue, send_email, auto_close_incident, issue_template_key }
    }
}
