//! How much there is in the installation, over all domains.

use db::Tx;
use kernel::{Grant, Result, access::Administrate};

/// Numbers of things.
#[derive(Clone, Copy, Debug)]
pub struct Statistics {
    pub org: org::statistics::Counts,
    pub review: review::statistics::Counts,
}

pub fn count(tx: &mut Tx<'_>, _: &Grant<Administrate>) -> Result<Statistics> {
    Ok(Statistics { org: org::statistics::count(tx)?, review: review::statistics::count(tx)? })
}
