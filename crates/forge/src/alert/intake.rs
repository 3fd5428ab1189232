//! Intake of alerts that monitoring tools send.

use db::Tx;
use kernel::{Result, ids::ProjectId};
use org::project::store::ProjectStore as _;
use security::{
    alert::{
        Denial, IntakeResult, Payload, SettingsStore as _, authorize, is_news,
        receive as receive_payload,
    },
    integration::{AlertIntegration, Endpoint, IntegrationKey},
};

use super::{Incidents, templates};
use crate::Forge;

/// The project that an address names; who asks need not know of it.
pub async fn project(forge: &Forge, full_path: String) -> Result<Option<ProjectId>> {
    let found = forge.db.peek(move |tx| tx.find_project_at(&full_path)).await?;
    Ok(found.map(|project| project.id))
}

/// The integration that admits an alert, and the incident template.
#[derive(Clone, Debug)]
pub struct Admission {
    integration: AlertIntegration,
    /// The name of a template.
    template: Option<String>,
}

/// The integration of an endpoint, if the key is right.
pub async fn admit(
    forge: &Forge,
    project: ProjectId,
    endpoint: Endpoint,
    key: Option<IntegrationKey>,
) -> Result<Result<Admission, Denial>> {
    let admitted = move |tx: &mut Tx<'_>| {
        Ok(match authorize(tx, project, &endpoint, key.as_ref())? {
            Err(denial) => Err(denial),
            Ok(integration) => {
                let settings = tx.alert_settings(project)?;
                let template = settings.issue_template_key.filter(|_| settings.create_issue);
                Ok(Admission { integration, template })
            }
        })
    };
    forge.db.peek(admitted).await
}

/// Takes what an integration sent, with all that follows from it.
pub async fn receive(
    forge: &Forge,
    admission: Admission,
    payload: Payload,
) -> Result<IntakeResult> {
    let Admission { integration, template } = admission;
    let template = match template {
        Some(key) => template_for(forge, &integration, &payload, key).await?,
        None => None,
    };
    let incidents = Incidents { urls: forge.urls.clone(), template };
    let done = forge.db.write(move |tx| receive_payload(tx, &incidents, &integration, &payload));
    done.await
}

/// Files are looked up for what is told the first time alone: a monitor may repeat itself very often.
async fn template_for(
    forge: &Forge,
    integration: &AlertIntegration,
    payload: &Payload,
    key: String,
) -> Result<Option<String>> {
    let (project, asked, told) = (integration.project_id, integration.clone(), payload.clone());
    match forge.db.read(move |tx| is_news(tx, &asked, &told)).await? {
        true => templates::find(forge, project, key).await,
        false => Ok(None),
    }
}
