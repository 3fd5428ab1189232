//! A request that a webhook got, and what it answered.

use admin::delivery::DeliveryLog;
use kernel::{Error, Result};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

#[derive(Debug, Serialize, ToSchema)]
pub struct HookLogEntity {
    pub id: i64,
    pub url: String,
    /// Flag of the event.
    pub trigger: String,
    #[schema(value_type = Object)]
    pub request_headers: Value,
    #[schema(value_type = Object)]
    pub request_data: Value,
    #[schema(value_type = Object)]
    pub response_headers: Value,
    pub response_body: String,
    /// Duration in seconds.
    pub execution_duration: f64,
    /// Status code, or `internal error`.
    pub response_status: String,
}

impl HookLogEntity {
    pub fn new(row: &DeliveryLog) -> Result<Self> {
        let json = |text: &str| serde_json::from_str(text).map_err(Error::internal);
        // What a template made of it may be no JSON.
        let data = serde_json::from_str(&row.request_data);
        Ok(Self {
            id: row.id.0,
            url: row.url.clone(),
            trigger: row.trigger_name.to_string(),
            request_headers: json(&row.request_headers)?,
            request_data: data.unwrap_or_else(|_text| Value::from(row.request_data.as_str())),
            response_headers: json(&row.response_headers)?,
            response_body: row.response_body.clone(),
            execution_duration: row.duration,
            response_status: row.response_status.clone(),
        })
    }
}

/// Result of resending a webhook request.
#[derive(Debug, Serialize, ToSchema)]
pub struct ResentEntity {
    pub response_status: Option<u16>,
}
