//! Counts wrong passwords by account: whoever guesses too often waits, under whichever of the account's names they go on.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

use kernel::{Error, Result, Ts, ids::UserId};
use org::user::User;
use time::Duration;

use super::passwords::Fingerprint;

/// How many failures are borne within [`SPAN`].
const BORNE: u32 = 10;
const SPAN: Duration = Duration::minutes(10);
/// How many accounts are remembered; beyond it those that have waited long enough are forgotten.
const REMEMBERED: usize = 100_000;

/// Failures by account, whether or not there is such an account.
#[derive(Debug, Default)]
pub struct SignIns(Mutex<HashMap<Account, Failures>>);

/// The account that a sign-in attempt is for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Account {
    /// Somebody, under whichever name.
    User(UserId),
    /// A name that nobody has.
    Nobody(String),
}

impl Account {
    /// Names differ by more than the case of their letters, and none is longer than this.
    pub(super) fn of(login: &str, user: Option<&User>) -> Self {
        let shortened = || login.chars().take(255).collect::<String>().to_lowercase();
        user.map_or_else(|| Self::Nobody(shortened()), |user| Self::User(user.id))
    }
}

#[derive(Clone, Debug)]
struct Failures {
    since: Ts,
    count: u32,
    /// What is being checked at this moment: the same password from several connections is one guess.
    underway: Vec<Fingerprint>,
}

impl Failures {
    fn new(since: Ts) -> Self {
        Self { since, count: 0, underway: Vec::new() }
    }

    fn are_over(&self, now: Ts) -> bool {
        self.since.plus(SPAN) <= now
    }
}

/// One guess that is being checked: it counts as a failure until it turns out to be right.
pub(super) struct Guess<'a> {
    all: &'a SignIns,
    account: Account,
    print: Fingerprint,
}

impl Drop for Guess<'_> {
    fn drop(&mut self) {
        let mut all = self.all.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(failures) = all.get_mut(&self.account) else { return };
        if let Some(at) = failures.underway.iter().position(|other| *other == self.print) {
            failures.underway.swap_remove(at);
        }
    }
}

impl SignIns {
    /// Counts a guess before it is looked at, so that many at once are not more than one after the other.
    pub(super) fn guess(
        &self,
        account: &Account,
        print: Fingerprint,
        now: Ts,
    ) -> Result<Guess<'_>> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= REMEMBERED {
            all.retain(|_, failures| !failures.are_over(now));
        }
        let failures = all.entry(account.clone()).or_insert_with(|| Failures::new(now));
        if failures.are_over(now) {
            *failures = Failures::new(now);
        }
        if !failures.underway.contains(&print) {
            if failures.count >= BORNE {
                let wait = failures.since.plus(SPAN).unix() - now.unix();
                return Err(Error::too_many(u64::try_from(wait).unwrap_or(1).max(1)));
            }
            failures.count += 1;
        }
        failures.underway.push(print);
        drop(all);
        Ok(Guess { all: self, account: account.clone(), print })
    }

    /// The guess was right: those before it are forgotten.
    pub(super) fn forget(&self, guess: Guess<'_>) {
        let account = guess.account.clone();
        drop(guess);
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.remove(&account);
    }
}

#[cfg(test)]
mod tests {
    use kernel::{Ts, ids::UserId};

    use super::{Account, SignIns};

    fn nobody(login: &str) -> Account {
        Account::of(login, None)
    }

    #[test]
    fn who_fails_too_often_waits_and_others_do_not() {
        let (sign_ins, now) = (SignIns::default(), Ts::from_unix(1_000));
        let is_heard = |account: &Account, now: Ts| sign_ins.guess(account, [0; 32], now).is_ok();

        assert!((0..10).all(|_| is_heard(&nobody("Ada"), now)));

        assert!(!is_heard(&nobody("ADA"), now));
        assert!(is_heard(&nobody("bob"), now) && is_heard(&Account::User(UserId(1)), now));
        assert!(is_heard(&nobody("ada"), Ts::from_unix(1_601)));
    }

    #[test]
    fn a_right_password_ends_the_count() {
        let (sign_ins, now) = (SignIns::default(), Ts::from_unix(1_000));
        let ada = Account::User(UserId(1));
        (0..9).for_each(|_| drop(sign_ins.guess(&ada, [0; 32], now)));

        sign_ins.forget(sign_ins.guess(&ada, [1; 32], now).unwrap());

        assert!((0..10).all(|_| sign_ins.guess(&ada, [0; 32], now).is_ok()));
    }

    #[test]
    fn guesses_count_while_they_are_checked_and_the_same_one_counts_once() {
        let (sign_ins, now) = (SignIns::default(), Ts::from_unix(1_000));
        let ada = Account::User(UserId(1));
        let same: Vec<_> = (0..20).map(|_| sign_ins.guess(&ada, [0; 32], now).unwrap()).collect();

        let others: Vec<_> =
            (1..10).map(|number| sign_ins.guess(&ada, [number; 32], now).unwrap()).collect();

        assert!(sign_ins.guess(&ada, [99; 32], now).is_err(), "ten are being checked");
        drop((same, others));
        assert!(sign_ins.guess(&ada, [0; 32], now).is_err(), "and all were wrong");
    }
}
