//! Groups that are reached from some networks only. A top-level group says which; they hold for everything below it and
//! are kept with each group there, so that whoever looks at one row knows.

use std::net::IpAddr;

use db::{Tx, each_backend, error, schema::namespaces};
use diesel::prelude::*;
use kernel::{AccessLevel, Actor, Result};

use super::{Namespace, full_path::below};

/// An address, or a network in the form `10.0.0.0/8`: its bits, and how many of them count.
fn network(text: &str) -> Option<(u128, u32)> {
    let (address, prefix) = match text.split_once('/') {
        Some((address, prefix)) => (address, Some(prefix)),
        None => (text, None),
    };
    let address: IpAddr = address.parse().ok()?;
    let most = if address.is_ipv4() { 32 } else { 128 };
    let length = prefix.map_or(Some(most), |prefix| prefix.parse().ok())?;
    (length <= most).then(|| (bits(address), 128 - most + length))
}

/// Both kinds of addresses as one: those of the older kind have their place among those of the newer.
fn bits(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => address.to_ipv6_mapped().to_bits(),
        IpAddr::V6(address) => address.to_bits(),
    }
}

/// Some networks: the bits at which each starts, and how many of them count.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Networks(Vec<(u128, u32)>);

impl Networks {
    /// Networks and addresses that are joined by commas; nothing when one of them is neither.
    pub fn parse(text: &str) -> Option<Self> {
        text.split(',').map(|range| network(range.trim())).collect::<Option<_>>().map(Self)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether an address lies in one of them.
    pub fn hold(&self, address: IpAddr) -> bool {
        self.0.iter().any(|(start, length)| {
            let ignored = 128 - length;
            let kept = |bits: u128| bits.checked_shr(ignored).unwrap_or_default();
            kept(*start) == kept(bits(address))
        })
    }
}

/// Whether somebody asks from outside these networks. Administrators come from anywhere.
pub(crate) fn shut_out(actor: Actor, ranges: Option<&str>) -> bool {
    let Some((ranges, address)) = ranges.zip(actor.address) else { return false };
    !actor.admin && Networks::parse(ranges).is_none_or(|networks| !networks.hold(address))
}

/// Whether somebody asks for a group from outside its networks. Its owners still reach it, so that none of them locks
/// out all; the projects in it, they do not.
pub(crate) fn shut_out_of_group(actor: Actor, level: AccessLevel, group: &Namespace) -> bool {
    level < AccessLevel::Owner && shut_out(actor, group.ip_ranges.as_deref())
}

/// All networks that somebody is outside of, as groups have them.
pub(crate) fn closed_to(tx: &mut Tx<'_>, actor: Actor) -> Result<Vec<String>> {
    if actor.admin || actor.address.is_none() {
        return Ok(Vec::new());
    }
    let all = namespaces::table
        .filter(namespaces::ip_ranges.is_not_null())
        .select(namespaces::ip_ranges.assume_not_null())
        .distinct();
    let all: Vec<String> = each_backend!(tx, |conn| all.load(conn).map_err(error("Group")))?;
    Ok(all.into_iter().filter(|ranges| shut_out(actor, Some(ranges))).collect())
}

/// Lets a group and all below it be reached from these networks only; from anywhere where there are none.
pub(super) fn keep(tx: &mut Tx<'_>, group: &Namespace, ranges: Option<&str>) -> Result<()> {
    let (from, to) = below(&group.full_path);
    let inside = namespaces::path_key.ge(from).and(namespaces::path_key.lt(to));
    let rows = namespaces::table.filter(namespaces::id.eq(group.id).or(inside));
    each_backend!(tx, |conn| diesel::update(rows)
        .set(namespaces::ip_ranges.eq(ranges))
        .execute(conn)
        .map_err(error("Group")))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use kernel::Actor;

    use super::{Networks, shut_out};

    #[test]
    fn an_address_is_inside_where_the_bits_that_count_agree() {
        let ranges = "10.1.0.0/16, 192.0.2.7,2001:db8::/32";
        for (address, inside) in [
            ("10.1.255.255", true),
            ("10.2.0.0", false),
            ("192.0.2.7", true),
            ("192.0.2.8", false),
            ("2001:db8:1::1", true),
            ("2001:db9::1", false),
            ("::ffff:10.1.2.3", true),
        ] {
            let actor = Actor::ANONYMOUS.at(address.parse().ok());
            assert_eq!(!shut_out(actor, Some(ranges)), inside, "{address}");
        }
        let anywhere = Actor::ANONYMOUS.at("::1".parse().ok());
        assert!(!shut_out(anywhere, Some("0.0.0.0/0, ::/0")));
        assert!(shut_out(anywhere, Some("0.0.0.0/0")), "that is all of the older kind");
        assert!(!shut_out(anywhere, None));
        assert!(!shut_out(Actor { admin: true, ..anywhere }, Some("10.0.0.0/8")));
        assert!(!shut_out(Actor::ANONYMOUS, Some("10.0.0.0/8")), "the program asks by itself");
    }

    #[test]
    fn networks_are_told_from_other_texts() {
        for text in ["10.0.0.0/8", "10.0.0.1", "::1/128", "::/0"] {
            assert!(Networks::parse(text).is_some(), "{text}");
        }
        for text in
            ["", "10.0.0.1,", "10.0.0.0/33", "::1/129", "10.0.0/8", "10.0.0.0/-1", "10.0.0.0/8/8"]
        {
            assert_eq!(Networks::parse(text), None, "{text}");
        }
    }
}
