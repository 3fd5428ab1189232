//! A freeze period as it is stored.

use diesel::prelude::{Queryable, Selectable};
use kernel::{
    Ts,
    ids::{FreezePeriodId, ProjectId},
};

#[derive(Clone, Debug, PartialEq, Eq, Queryable, Selectable)]
#[diesel(table_name = db::schema::freeze_periods, check_for_backend(db::AnyBackend))]
pub struct FreezePeriod {
    pub id: FreezePeriodId,
    pub project_id: ProjectId,
    /// A cron expression.
    pub freeze_start: String,
    pub freeze_end: String,
    pub cron_timezone: String,
    pub created_at: Ts,
    pub updated_at: Ts,
}
