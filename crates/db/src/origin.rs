//! The caller and address on whose behalf work is done, known to every transaction of it.

use std::net::IpAddr;

use kernel::ids::UserId;

/// Nobody, from nowhere, where the server does something by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    pub user: Option<UserId>,
    pub address: Option<IpAddr>,
}

tokio::task_local! {
    static ORIGIN: Origin;
}

/// Does something whose transactions know who asked for it.
pub async fn with_origin<T>(origin: Origin, work: impl Future<Output = T>) -> T {
    ORIGIN.scope(origin, work).await
}

// Every transaction calls it: a copy in each would be much code.
#[inline(never)]
pub(crate) fn current() -> Origin {
    ORIGIN.try_with(|origin| *origin).unwrap_or_default()
}
