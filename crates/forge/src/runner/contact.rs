//! Runners that call: their token is known again, and that they called is written down now and then.

use kernel::{Result, Ts, ids::RunnerId};
use runners::{
    manager::{Contact, ManagerStore as _},
    runner::{Runner, RunnerToken, register},
};
use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};
use time::Duration;

use crate::Forge;

/// A call is written down when the last one that was is so long ago.
const EVERY: Duration = Duration::minutes(1);
/// The same for who asks again and again while there is nothing to do.
const EVERY_IDLE: Duration = Duration::minutes(10);
/// So many programs are remembered.
const MOST: usize = 4096;

/// The last recorded contact of each runner manager.
#[derive(Debug, Default)]
pub struct Contacts(Mutex<HashMap<(RunnerId, Contact), Ts>>);

impl Contacts {
    /// Whether a call of a runner that has nothing to do need not be written down.
    pub(super) fn is_noted(&self, runner: RunnerId, contact: &Contact, now: Ts) -> bool {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let last = known.get(&(runner, contact.clone()));
        last.is_some_and(|last| last.plus(EVERY_IDLE) > now)
    }

    /// Whether a call is to be written down. What a program tells of itself counts at once where it is new.
    fn is_due(&self, runner: RunnerId, contact: &Contact, now: Ts) -> bool {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (runner, contact.clone());
        if known.get(&key).is_some_and(|last| last.plus(EVERY) > now) {
            return false;
        }
        if known.len() >= MOST {
            known.clear();
        }
        known.insert(key, now);
        true
    }
}

/// The runner that shows its token, and whose call is noted.
///
/// # Errors
/// `Forbidden` where the token is nobody's, `BadRequest` where what it tells of itself is too long.
pub async fn authenticate(forge: &Forge, token: &RunnerToken, contact: Contact) -> Result<Runner> {
    let own = token.clone();
    let (runner, now) =
        forge.db.peek(move |tx| Ok((register::authenticate(tx, &own)?, tx.now))).await?;
    contact.ensure_sound()?;
    if forge.contacts.is_due(runner.id, &contact, now) {
        let id = runner.id;
        forge.db.write(move |tx| tx.record_contact(id, &contact)).await?;
    }
    Ok(runner)
}
