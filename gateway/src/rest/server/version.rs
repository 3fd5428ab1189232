//! What is running.

use forge::version::API_VERSION;
use kernel::access::SignedIn;
use serde::Serialize;
use utoipa::ToSchema;

use crate::{app::App, error::ApiResult, extract::Call, present::Json, routes};

routes! { "Metadata" at "", also [ReadUser];
    GET "/version"  => show : SignedIn,
    GET "/metadata" => show : SignedIn,
}

/// The commit that this was built from; of what was built outside of a checkout, or is being worked on, the version.
const REVISION: &str = env!("FORGEWAY_REVISION");

#[derive(Serialize, ToSchema)]
pub struct Metadata {
    version: &'static str,
    revision: &'static str,
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

async fn show(_: App, _: Call<SignedIn>) -> ApiResult<Json<Metadata>> {
    let kas = AgentServer { enabled: false, external_url: None, version: None };
    Ok(Json(Metadata { version: API_VERSION, revision: REVISION, kas, enterprise: true }))
}
