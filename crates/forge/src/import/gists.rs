//! Gists of somebody at the hosted service. They would become personal snippets, which this product does not have: so
//! whoever has gists is told that they stay where they are.

use admin::import::ImportKind;
use kernel::{Grant, access::SignedIn};

use super::{
    Refusal, SourceClient, SourceError,
    actions::{api_base, ensure_enabled, ensure_open},
};
use crate::Forge;

const NO_SNIPPETS: &str = "Gists cannot be imported: this instance has no snippets.";

/// Looks for the gists of whoever has a token at the source.
///
/// # Errors
/// As [`import_from_host`](super::actions::import_from_host); [`Refusal::Invalid`] where there are any.
pub async fn import_gists(
    forge: &Forge,
    _: &Grant<SignedIn>,
    (token, hostname): (&str, Option<&str>),
) -> Result<(), Refusal> {
    ensure_enabled(forge, ImportKind::RemoteHost).await?;
    let base = api_base(hostname)?;
    ensure_open(forge, &base)?;
    let client = SourceClient::new(forge, Some(format!("token {token}")));
    let found = client.get(format!("{base}/gists?per_page=1")).await?;
    match found.body.as_array() {
        Some(gists) if gists.is_empty() => Ok(()),
        Some(_) => Err(Refusal::Invalid(NO_SNIPPETS.to_owned())),
        None => Err(SourceError::malformed("the list of the source").into()),
    }
}
