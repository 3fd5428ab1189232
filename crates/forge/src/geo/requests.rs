//! Requests that other nodes sign.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use geo::{
    credential::API_SCOPE,
    request::{self, SignedRequest},
};
use kernel::{Error, Result};
use org::namespace::Networks;

use crate::Forge;

/// The node behind a request, by what it shows and where it comes from.
///
/// # Errors
/// 401 from outside of the networks that the settings name, and as [`request::prove`] refuses.
pub async fn authenticate(
    forge: &Forge,
    shown: &str,
    from: Option<IpAddr>,
) -> Result<SignedRequest> {
    ensure_allowed(forge, from)?;
    let (vault, shown) = (forge.vault.clone(), shown.to_owned());
    forge.db.peek(move |tx| request::prove(tx, &vault, &shown)).await
}

/// As [`authenticate`], for a request of the API that a node may also make while it is disabled.
///
/// # Errors
/// As those of [`authenticate`].
pub async fn authenticate_even_paused(
    forge: &Forge,
    shown: &str,
    from: Option<IpAddr>,
) -> Result<SignedRequest> {
    ensure_allowed(forge, from)?;
    let (vault, shown) = (forge.vault.clone(), shown.to_owned());
    let request = forge.db.peek(move |tx| request::prove_even_paused(tx, &vault, &shown)).await?;
    request.ensure_scope(API_SCOPE)?;
    Ok(request)
}

/// What nobody can read allows nobody; who comes from nowhere is inside of what holds every address.
fn ensure_allowed(forge: &Forge, from: Option<IpAddr>) -> Result<()> {
    const EVERYWHERE: [IpAddr; 2] =
        [IpAddr::V4(Ipv4Addr::UNSPECIFIED), IpAddr::V6(Ipv6Addr::UNSPECIFIED)];
    let settings = forge.settings();
    let networks = settings.geo_node_allowed_ips().and_then(Networks::parse);
    let is_allowed = networks.is_some_and(|networks| match from {
        Some(address) => networks.hold(address),
        None => EVERYWHERE.into_iter().all(|address| networks.hold(address)),
    });
    if is_allowed { Ok(()) } else { Err(Error::unauthenticated()) }
}
