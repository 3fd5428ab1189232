//! Freeze periods.

use deployments::freeze_period::FreezePeriod;
use kernel::Ts;
use serde::Serialize;
use utoipa::ToSchema;

#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct FreezePeriodEntity {
    pub id: i64,
    /// Cron expression.
    pub freeze_start: String,
    pub freeze_end: String,
    pub cron_timezone: String,
    #[schema(value_type = String)]
    pub created_at: Ts,
    #[schema(value_type = String)]
    pub updated_at: Ts,
}

impl From<FreezePeriod> for FreezePeriodEntity {
    fn from(period: FreezePeriod) -> Self {
        Self {
            id: period.id.0,
            freeze_start: period.freeze_start,
            freeze_end: period.freeze_end,
            cron_timezone: period.cron_timezone,
            created_at: period.created_at,
            updated_at: period.updated_at,
        }
    }
}
