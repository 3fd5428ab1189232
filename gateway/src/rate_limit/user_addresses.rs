//! The number of addresses from which one person may come within a while.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{Mutex, PoisonError, RwLock},
};

use kernel::{Ts, ids::UserId};
use org::settings::Settings;
use time::Duration;

/// So many addresses in so long a time.
#[derive(Clone, Copy, Debug)]
struct AddressRule {
    most: usize,
    window: Duration,
}

impl AddressRule {
    fn of(set: &Settings) -> Option<Self> {
        let most = usize::try_from(set.unique_ips_limit_per_user()?).ok()?;
        let window = Duration::seconds(set.unique_ips_limit_time_window()?);
        set.unique_ips_limit_enabled().then_some(Self { most, window })
    }
}

/// When somebody was last seen at each of their addresses.
type AddressTimes = HashMap<IpAddr, Ts>;

/// The addresses of each person, as far as this server saw them.
#[derive(Debug, Default)]
pub(super) struct UserAddresses {
    rule: RwLock<Option<AddressRule>>,
    users: Mutex<HashMap<UserId, AddressTimes>>,
}

impl UserAddresses {
    pub(super) fn new(set: &Settings) -> Self {
        let addresses = Self::default();
        addresses.follow(set);
        addresses
    }

    pub(super) fn follow(&self, set: &Settings) {
        let rule = AddressRule::of(set);
        if rule.is_none() {
            self.users.lock().unwrap_or_else(PoisonError::into_inner).clear();
        }
        *self.rule.write().unwrap_or_else(PoisonError::into_inner) = rule;
    }

    fn rule(&self) -> Option<AddressRule> {
        *self.rule.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether somebody comes from no more addresses than they may, with this one.
    pub(super) fn admits(&self, user: UserId, address: IpAddr, now: Ts) -> bool {
        let Some(rule) = self.rule() else { return true };
        let mut users = self.users.lock().unwrap_or_else(PoisonError::into_inner);
        let theirs = users.entry(user).or_default();
        let is_known = theirs.contains_key(&address);
        if !is_known || theirs.len() > rule.most {
            theirs.retain(|_, last| last.plus(rule.window) > now);
        }
        // One too many is enough to refuse them all: more are not remembered.
        if is_known || theirs.len() <= rule.most {
            theirs.insert(address, now);
        }
        theirs.len() <= rule.most
    }

    /// Forgets addresses at which nobody was of late.
    pub(super) fn forget_the_quiet(&self, now: Ts) {
        let Some(rule) = self.rule() else { return };
        let mut users = self.users.lock().unwrap_or_else(PoisonError::into_inner);
        users.retain(|_, theirs| {
            theirs.retain(|_, last| last.plus(rule.window) > now);
            !theirs.is_empty()
        });
    }
}

#[cfg(test)]
mod tests {
    use kernel::{Ts, ids::UserId};
    use org::settings::Settings;

    use super::UserAddresses;

    fn limited() -> UserAddresses {
        let values = serde_json::json!({ "unique_ips_limit_enabled": true,
            "unique_ips_limit_per_user": 2, "unique_ips_limit_time_window": 60 });
        let set: Settings = serde_json::from_value(values).unwrap();
        UserAddresses::new(&set)
    }

    #[test]
    fn one_address_too_many_shuts_all_of_them_out_until_it_is_old() {
        let addresses = limited();
        let admits = |user: i64, last: u8, second: i64| {
            addresses.admits(UserId(user), [192, 0, 2, last].into(), Ts::from_unix(second))
        };
        assert!(admits(1, 1, 0) && admits(1, 2, 1) && admits(1, 1, 2));
        assert!(!admits(1, 3, 3) && !admits(1, 1, 4) && !admits(1, 4, 5));
        assert!(admits(2, 3, 5), "others are counted apart");
        assert!(!admits(1, 1, 60), "2 and 3 were there within the last minute");
        assert!(admits(1, 1, 62), "2 was not");
        addresses.forget_the_quiet(Ts::from_unix(122));
        assert!(admits(1, 5, 122) && admits(1, 6, 122));
    }

    #[test]
    fn addresses_are_not_counted_where_that_is_off() {
        let addresses = limited();
        addresses.follow(&Settings::default());
        assert!((0..9).all(|last| addresses.admits(
            UserId(1),
            [192, 0, 2, last].into(),
            Ts::from_unix(0)
        )));
    }
}
