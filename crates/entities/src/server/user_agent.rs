//! The user agent and address from which an issue was created.

use review::issue::origin::Origin;
use serde::Serialize;
use utoipa::ToSchema;

#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct UserAgentEntity {
    pub user_agent: String,
    pub ip_address: String,
    /// Always false: nothing is sent to a spam service.
    pub akismet_submitted: bool,
}

impl From<Origin> for UserAgentEntity {
    fn from(origin: Origin) -> Self {
        Self {
            user_agent: origin.user_agent,
            ip_address: origin.ip_address,
            akismet_submitted: false,
        }
    }
}
