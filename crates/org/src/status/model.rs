//! A status as it is stored.

use diesel::prelude::{Queryable, Selectable};
use kernel::Ts;
use time::Duration;

kernel::text_enum! {
    #[derive(Default)]
    pub enum Availability { #[default] NotSet = "not_set", Busy = "busy" }
}

kernel::text_enum! {
    /// The duration of a user status.
    pub enum ClearAfter {
        HalfAnHour = "30_minutes", ThreeHours = "3_hours", EightHours = "8_hours", Day = "1_day",
        ThreeDays = "3_days", Week = "7_days", Month = "30_days",
    }
}

impl ClearAfter {
    pub fn span(self) -> Duration {
        match self {
            Self::HalfAnHour => Duration::minutes(30),
            Self::ThreeHours => Duration::hours(3),
            Self::EightHours => Duration::hours(8),
            Self::Day => Duration::days(1),
            Self::ThreeDays => Duration::days(3),
            Self::Week => Duration::days(7),
            Self::Month => Duration::days(30),
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Queryable, Selectable)]
#[diesel(table_name = db::schema::user_statuses, check_for_backend(db::AnyBackend))]
pub struct Status {
    pub emoji: String,
    pub message: Option<String>,
    pub availability: Availability,
    pub clear_status_at: Option<Ts>,
}
