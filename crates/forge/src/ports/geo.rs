//! The ports of `geo`.

use db::Tx;
use geo::ports;
use kernel::{
    Result,
    ids::{ApplicationId, NamespaceId, UserId},
};
use org::{
    application::{
        ApplicationStore as _,
        actions::{NewApplication, register, unregister},
        registry,
    },
    namespace::by_ids::by_ids,
};

/// What a node may learn of the people who sign in there by way of the primary.
const SCOPES: &str = "read_user";

/// The OAuth applications of nodes.
#[derive(Clone, Copy, Debug)]
pub struct Applications {
    /// On whose word they come and go.
    pub by: Option<UserId>,
}

impl ports::Applications for Applications {
    fn create(&self, tx: &mut Tx<'_>, name: &str, redirect_uri: &str) -> Result<ApplicationId> {
        let new = NewApplication {
            name: name.to_owned(),
            redirect_uri: redirect_uri.to_owned(),
            scopes: SCOPES.to_owned(),
            trusted: true,
            // A secondary sees the rows of the primary, in which there is no secret, but a digest.
            confidential: false,
        };
        Ok(register(tx, self.by, &new)?.0.id)
    }

    fn update(
        &self,
        tx: &mut Tx<'_>,
        id: ApplicationId,
        name: &str,
        redirect_uri: &str,
    ) -> Result<()> {
        registry::rename(tx, id, name, redirect_uri)
    }

    fn delete(&self, tx: &mut Tx<'_>, id: ApplicationId) -> Result<()> {
        match tx.find_application(id)? {
            Some(application) => unregister(tx, self.by, &application),
            None => Ok(()),
        }
    }

    fn existing(&self, tx: &mut Tx<'_>, ids: &[ApplicationId]) -> Result<Vec<ApplicationId>> {
        registry::existing(tx, ids)
    }
}

/// Groups and personal namespaces.
#[derive(Clone, Copy, Debug)]
pub struct Namespaces;

impl ports::Namespaces for Namespaces {
    fn existing(&self, tx: &mut Tx<'_>, ids: &[NamespaceId]) -> Result<Vec<NamespaceId>> {
        Ok(by_ids(tx, ids)?.into_iter().map(|namespace| namespace.id).collect())
    }
}
