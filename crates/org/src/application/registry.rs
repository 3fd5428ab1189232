//! Applications that the server keeps for itself: which of them exist, and what they are called.

use db::{OneOf as _, Tx, each_backend, error, schema::oauth_applications as applications};
use diesel::prelude::*;
use kernel::{Result, ids::ApplicationId};

const NOUN: &str = "Application";

/// Those of these applications that exist.
///
/// # Errors
/// When the database cannot be read.
pub fn existing(tx: &mut Tx<'_>, ids: &[ApplicationId]) -> Result<Vec<ApplicationId>> {
    let rows = applications::table.filter(applications::id.one_of(ids)).select(applications::id);
    each_backend!(tx, |conn| rows.load(conn).map_err(error(NOUN)))
}

/// Gives an application another name and address.
///
/// # Errors
/// When the database cannot be written.
pub fn rename(tx: &mut Tx<'_>, id: ApplicationId, name: &str, redirect_uri: &str) -> Result<()> {
    let values = (
        applications::name.eq(name),
        applications::redirect_uri.eq(redirect_uri),
        applications::updated_at.eq(tx.now),
    );
    let update = diesel::update(applications::table.find(id)).set(values);
    each_backend!(tx, |conn| update.execute(conn).map_err(error(NOUN)))?;
    Ok(())
}
