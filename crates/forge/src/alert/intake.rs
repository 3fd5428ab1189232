//! What monitors send, on its way in.

use kernel::{Result, ids::ProjectId};
use org::project::store::ProjectStore as _;
use security::{
    alert::{Denial, Payload, Received, authorize, receive as receive_payload},
    integration::{AlertIntegration, Endpoint, IntegrationKey},
};

use super::Incidents;
use crate::Forge;

/// The project that an address names; who asks need not know of it.
pub async fn project(forge: &Forge, full_path: String) -> Result<Option<ProjectId>> {
    let found = forge.db.peek(move |tx| tx.find_project_at(&full_path)).await?;
    Ok(found.map(|project| project.id))
}

/// The integration of an address, for whoever shows its key.
pub async fn integration(
    forge: &Forge,
    project: ProjectId,
    endpoint: Endpoint,
    key: Option<IntegrationKey>,
) -> Result<Result<AlertIntegration, Denial>> {
    forge.db.peek(move |tx| authorize(tx, project, &endpoint, key.as_ref())).await
}

/// Takes what an integration sent, with all that follows from it.
pub async fn receive(
    forge: &Forge,
    integration: AlertIntegration,
    payload: Payload,
) -> Result<Received> {
    let incidents = Incidents { urls: forge.urls.clone() };
    let done = forge.db.write(move |tx| receive_payload(tx, &incidents, &integration, &payload));
    done.await
}
