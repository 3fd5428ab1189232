//! What ends by itself, as a share with a group does. A row whose end has come counts for nothing, even while nobody
//! has cleared it away.

use kernel::Ts;

use crate::listing::value;

/// The rows of a table whose end has not come, where they have one.
macro_rules! living {
    ($table:ident, $now:expr) => {
        $table::expires_at.is_null().or($table::expires_at.gt($now))
    };
}

/// The rows of a table whose end has come.
macro_rules! ended {
    ($table:ident, $now:expr) => {
        $table::expires_at.le($now)
    };
}

pub(crate) use {ended, living};

/// The condition that rows live which are called so, for statements of [`listing`](crate::listing).
pub(crate) fn living_in(rows: &str, now: Ts) -> String {
    format!("({rows}.expires_at IS NULL OR {rows}.expires_at > {})", value(now.0))
}
