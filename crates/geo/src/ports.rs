//! The interfaces that this crate needs from other domains.

use db::Tx;
use kernel::{
    Result,
    ids::{ApplicationId, NamespaceId},
};

/// The OAuth applications by which people sign in on secondaries.
pub trait Applications {
    /// Makes an application that sends people back to this address.
    fn create(&self, tx: &mut Tx<'_>, name: &str, redirect_uri: &str) -> Result<ApplicationId>;
    fn update(
        &self,
        tx: &mut Tx<'_>,
        id: ApplicationId,
        name: &str,
        redirect_uri: &str,
    ) -> Result<()>;
    fn delete(&self, tx: &mut Tx<'_>, id: ApplicationId) -> Result<()>;
    /// Those that exist, in one statement.
    fn existing(&self, tx: &mut Tx<'_>, ids: &[ApplicationId]) -> Result<Vec<ApplicationId>>;
}

/// Groups and personal namespaces.
pub trait Namespaces {
    /// Those that exist, in one statement.
    fn existing(&self, tx: &mut Tx<'_>, ids: &[NamespaceId]) -> Result<Vec<NamespaceId>>;
}
