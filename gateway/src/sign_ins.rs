//! Failed sign-ins: somebody who guesses passwords of an account is made to wait.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

use kernel::{Error, Result, Ts};
use time::Duration;

/// How many failures are borne within [`SPAN`].
const BORNE: u32 = 10;
const SPAN: Duration = Duration::minutes(10);
/// How many accounts are remembered; beyond it those that have waited long enough are forgotten.
const REMEMBERED: usize = 100_000;

/// Failures by account name, whether or not there is such an account.
#[derive(Debug, Default)]
pub struct SignIns(Mutex<HashMap<String, Failures>>);

#[derive(Clone, Copy, Debug)]
struct Failures {
    since: Ts,
    count: u32,
}

impl Failures {
    fn are_over(&self, now: Ts) -> bool {
        self.since.plus(SPAN) <= now
    }
}

impl SignIns {
    pub fn ensure_not_tried_too_often(&self, login: &str, now: Ts) -> Result<()> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match all.get(&key(login)) {
            Some(failures) if failures.count >= BORNE && !failures.are_over(now) => {
                let wait = failures.since.plus(SPAN).unix() - now.unix();
                Err(Error::TooMany { retry_after: u64::try_from(wait).unwrap_or(1).max(1) })
            }
            _ => Ok(()),
        }
    }

    pub fn note_failure(&self, login: &str, now: Ts) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= REMEMBERED {
            all.retain(|_, failures| !failures.are_over(now));
        }
        let failures = all.entry(key(login)).or_insert(Failures { since: now, count: 0 });
        if failures.are_over(now) {
            *failures = Failures { since: now, count: 0 };
        }
        failures.count += 1;
    }

    pub fn forget(&self, login: &str) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.remove(&key(login));
    }
}

/// Names differ by more than the case of their letters, and none is longer than this.
fn key(login: &str) -> String {
    login.chars().take(255).collect::<String>().to_lowercase()
}

#[cfg(test)]
mod tests {
    use kernel::Ts;

    use super::SignIns;

    #[test]
    fn who_fails_too_often_waits_and_others_do_not() {
        let (sign_ins, now) = (SignIns::default(), Ts::from_unix(1_000));
        for _ in 0..10 {
            assert!(sign_ins.ensure_not_tried_too_often("Ada", now).is_ok());
            sign_ins.note_failure("ada", now);
        }
        assert!(sign_ins.ensure_not_tried_too_often("ADA", now).is_err());
        assert!(sign_ins.ensure_not_tried_too_often("bob", now).is_ok());
        assert!(sign_ins.ensure_not_tried_too_often("ada", Ts::from_unix(1_601)).is_ok());
    }

    #[test]
    fn a_right_password_ends_the_count() {
        let (sign_ins, now) = (SignIns::default(), Ts::from_unix(1_000));
        (0..10).for_each(|_| sign_ins.note_failure("ada", now));
        sign_ins.forget("ada");
        assert!(sign_ins.ensure_not_tried_too_often("ada", now).is_ok());
    }
}
