//! The version of the server.

use forge::version::API_VERSION;
use kernel::access::SignedIn;
use serde::Serialize;
use utoipa::ToSchema;

use crate::{app::App, error::ApiResult, extract::Call, present::Json, routes};

routes! { "Metadata" at "", also [ReadUser];
    GET "/version"  => show : SignedIn,
    GET "/metadata" => show : SignedIn,
}

#[derive(Serialize, ToSchema)]
pub struct Metadata {
    version: &'static str,
    revision: String,
    kas: AgentServer,
    enterprise: bool,
}

#[derive(Serialize, ToSchema)]
struct AgentServer {
    enabled: bool,
    #[serde(rename = "externalUrl")]
    external_url: Option<String>,
    version: Option<String>,
}

async fn show(app: App, _: Call<SignedIn>) -> ApiResult<Json<Metadata>> {
    let kas = AgentServer { enabled: false, external_url: None, version: None };
    Ok(Json(Metadata {
        version: API_VERSION,
        revision: app.revision.clone(),
        kas,
        enterprise: true,
    }))
}
