//! Addresses that tell nobody the real one.

use kernel::ids::UserId;

/// What stands for an address that tells nobody anything, made of the id and the host.
pub(super) const PRIVATE_ADDRESS: &str = "_private";

/// The address under which a person commits who keeps their own to themselves; `host` is the one of all such addresses.
pub(super) fn private_address(id: UserId, username: &str, host: &str) -> String {
    format!("{id}-{username}@{host}")
}

/// Names change, so it is the number that counts.
pub(super) fn private_id(email: &str, host: &str) -> Option<UserId> {
    let (local, domain) = email.rsplit_once('@')?;
    let same = domain.eq_ignore_ascii_case(host);
    let (id, _) = local.split_once('-').filter(|_| same)?;
    id.parse().ok().map(UserId)
}
