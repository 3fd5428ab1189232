//! Who may send alerts to a project, and what becomes of them. Clients of the vendor's product ask GraphQL for that.

use entities::security::alert_integration::{AlertIntegrationEntity, AlertSettingsEntity};
use forge::alert::templates;
use kernel::ids::AlertIntegrationId;
use security::{
    alert::actions::{self as alerts, SettingsChange},
    integration::{
        self, AlertField, AlertIntegration, IntegrationKind, MappedType, Mappings,
        actions::{self, IntegrationChange, NewIntegration},
    },
    policy::{AdminAlerts, ReadAlertIntegrations},
};

use crate::{
    app::App,
    error::ApiResult,
    extract::Call,
    param_enums, params,
    present::{Created, Json, NoContent, PagedList},
    routes,
};

routes! { "Alert integrations" at "/projects/{id}";
    GET    "/alert_management_integrations"                              => list            : ReadAlertIntegrations,
    POST   "/alert_management_integrations"                              => create          : AdminAlerts,
    GET    "/alert_management_integrations/{integration_id}"             => show            : ReadAlertIntegrations,
    PUT    "/alert_management_integrations/{integration_id}"             => update          : AdminAlerts,
    DELETE "/alert_management_integrations/{integration_id}"             => remove          : AdminAlerts,
    POST   "/alert_management_integrations/{integration_id}/reset_token" => reset_token     : AdminAlerts,
    GET    "/alert_management_settings"                                  => settings        : ReadAlertIntegrations,
    PUT    "/alert_management_settings"                                  => update_settings : AdminAlerts,
}

param_enums! { IntegrationKind, AlertField, MappedType }

params! {
    pub struct Mapping {
        /// Field of an alert.
        field_name: AlertField,
        /// Path to the field: keys and list indexes, outermost first.
        path: Vec<String>,
        /// What the monitor sends there, for people who map fields.
        r#type: MappedType = MappedType::Text,
        /// What people call the place.
        label: Option<String>,
    }
}

fn mappings(given: Vec<Mapping>) -> Mappings {
    let mapping = |one: Mapping| {
        let Mapping { field_name, path, r#type, label } = one;
        (field_name, integration::Mapping { path, kind: r#type, label })
    };
    given.into_iter().map(mapping).collect()
}

fn integration_entity(
    app: &App,
    path: &str,
    row: &AlertIntegration,
) -> ApiResult<AlertIntegrationEntity> {
    Ok(AlertIntegrationEntity::new(&app.urls, &app.vault, path, row)?)
}

params! {
    pub struct ListIntegrations: paged {}
}

async fn list(
    app: App,
    call: Call<ReadAlertIntegrations, ListIntegrations>,
) -> ApiResult<PagedList<AlertIntegrationEntity>> {
    let (grant, page) = (call.grant, call.page);
    let path = grant.facts().full_path.clone();
    let found = app.db.read(move |tx| actions::list(tx, &grant, page)).await?;
    let total = found.total;
    let items = found
        .items
        .iter()
        .map(|row| integration_entity(&app, &path, row))
        .collect::<ApiResult<_>>()?;
    Ok(PagedList(kernel::page::Page { items, total }))
}

params! {
    pub struct CreateIntegration {
        name: String,
        /// Whether the integration accepts alerts.
        active: bool,
        r#type: IntegrationKind = IntegrationKind::Http,
        /// Paths of alert fields in the payload. Fields without a path are read from keys of the same name.
        payload_attribute_mappings: Option<Vec<Mapping>>,
        /// Example payload, used to select field paths.
        payload_example: Option<String>,
    }
}

async fn create(
    app: App,
    call: Call<AdminAlerts, CreateIntegration>,
) -> ApiResult<Created<AlertIntegrationEntity>> {
    let (grant, params, vault) = (call.grant, call.params, app.vault.clone());
    let path = grant.facts().full_path.clone();
    let new = NewIntegration {
        kind: params.r#type,
        name: params.name,
        active: params.active,
        mappings: mappings(params.payload_attribute_mappings.unwrap_or_default()),
        payload_example: params.payload_example,
    };
    let made = app.db.write(move |tx| actions::create(tx, &grant, &vault, &new)).await?;
    Ok(Created(integration_entity(&app, &path, &made)?))
}

params! {
    pub struct OneIntegration {
        integration_id: AlertIntegrationId,
    }
}

async fn show(
    app: App,
    call: Call<ReadAlertIntegrations, OneIntegration>,
) -> ApiResult<Json<AlertIntegrationEntity>> {
    let (grant, id) = (call.grant, call.params.integration_id);
    let path = grant.facts().full_path.clone();
    let found = app.db.read(move |tx| actions::read(tx, &grant, id)).await?;
    Ok(Json(integration_entity(&app, &path, &found)?))
}

params! {
    pub struct UpdateIntegration {
        integration_id: AlertIntegrationId,
        name: Option<String>,
        active: Option<bool>,
        /// Replaces the existing mapping.
        payload_attribute_mappings: Option<Vec<Mapping>>,
        /// JSON as it is sent; an empty text takes it away.
        payload_example: Option<String>,
    } with at_least_one("name", "active", "payload_attribute_mappings", "payload_example");
}

async fn update(
    app: App,
    call: Call<AdminAlerts, UpdateIntegration>,
) -> ApiResult<Json<AlertIntegrationEntity>> {
    let (grant, params) = (call.grant, call.params);
    let path = grant.facts().full_path.clone();
    let id = params.integration_id;
    let change = IntegrationChange {
        name: params.name,
        active: params.active,
        mappings: params.payload_attribute_mappings.map(mappings),
        payload_example: params.payload_example,
    };
    let changed = app.db.write(move |tx| actions::update(tx, &grant, id, &change)).await?;
    Ok(Json(integration_entity(&app, &path, &changed)?))
}

async fn reset_token(
    app: App,
    call: Call<AdminAlerts, OneIntegration>,
) -> ApiResult<Created<AlertIntegrationEntity>> {
    let (grant, id, vault) = (call.grant, call.params.integration_id, app.vault.clone());
    let path = grant.facts().full_path.clone();
    let changed = app.db.write(move |tx| actions::reset_key(tx, &grant, &vault, id)).await?;
    Ok(Created(integration_entity(&app, &path, &changed)?))
}

async fn remove(app: App, call: Call<AdminAlerts, OneIntegration>) -> ApiResult<NoContent> {
    let since = call.unmodified_since();
    let (grant, id) = (call.grant, call.params.integration_id);
    app.db.write(move |tx| actions::remove(tx, &grant, id, since)).await?;
    Ok(NoContent)
}

async fn settings(
    app: App,
    call: Call<ReadAlertIntegrations>,
) -> ApiResult<Json<AlertSettingsEntity>> {
    let grant = call.grant;
    let found = app.db.read(move |tx| alerts::settings(tx, &grant)).await?;
    Ok(Json(found.into()))
}

params! {
    pub struct UpdateSettings {
        /// Whether a new alert opens an incident.
        create_issue: Option<bool>,
        /// Whether maintainers and owners get an email about each new alert.
        send_email: Option<bool>,
        /// Whether an incident is closed once its alert is resolved.
        auto_close_incident: Option<bool>,
        /// A template of an issue by its name, with which the text of an incident ends; an empty one takes it away.
        issue_template_key: Option<String>,
    } with at_least_one("create_issue", "send_email", "auto_close_incident", "issue_template_key");
}

async fn update_settings(
    app: App,
    call: Call<AdminAlerts, UpdateSettings>,
) -> ApiResult<Json<AlertSettingsEntity>> {
    let UpdateSettings { create_issue, send_email, auto_close_incident, issue_template_key } =
        call.params;
    if let Some(key) = issue_template_key.as_deref().filter(|key| !key.is_empty()) {
        templates::ensure(&app, call.grant.facts().clone(), key).await?;
    }
    let (grant, change) = (
        call.grant,
        SettingsChange { create_issue, send_email, auto_close_incident, issue_template_key },
    );
    let changed = app.db.write(move |tx| alerts::change_settings(tx, &grant, change)).await?;
    Ok(Json(changed.into()))
}
