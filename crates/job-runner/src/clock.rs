//! The only place that asks for the time of day. Waiting uses `Instant`.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Seconds since 1970.
#[expect(clippy::disallowed_methods, reason = "a runner has no transaction to take the time from")]
pub(crate) fn unix_seconds() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
}
