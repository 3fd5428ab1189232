//! Chains of facts: what somebody does who was told of a fact has the id that they were told, and nobody in the chain is
//! told of it again.

use std::{collections::BTreeSet, sync::Arc};

use db::{Tx, each_backend, error, schema::hook_events};
use diesel::prelude::*;
use kernel::{
    Result,
    ids::{HookId, IntegrationId},
};
use time::Duration;

use super::{HookEvent, Receiver};
use crate::uuid;

const NOUN: &str = "Hook Delivery";
/// The header of whatever system hooks are told.
pub const SYSTEM_HEADER: &str = "System Hook";

/// How long a chain of facts is remembered, and how many are told of its facts.
const CHAIN: Duration = Duration::minutes(30);
const MOST_IN_CHAIN: usize = 100;

/// The last part of the id of a fact that begins chains: each receiver is told one with a last part of its own, so that what
/// one of them does stays news to the others.
const NO_RECEIVER: &str = "000000000000";

impl HookEvent {
    /// The id of the fact as one receiver is told it.
    pub fn uuid_for(&self, receiver: Receiver) -> String {
        uuid_for(&self.uuid, receiver)
    }
}

fn uuid_for(uuid: &str, receiver: Receiver) -> String {
    const MOST: i64 = 0xfff_ffff_ffff;
    let (kind, id) = match receiver {
        Receiver::Hook(HookId(id)) => (1, id),
        Receiver::Integration(IntegrationId(id)) => (2, id),
    };
    match uuid.strip_suffix(NO_RECEIVER) {
        Some(first) => format!("{first}{kind}{:011x}", id & MOST),
        None => uuid.to_owned(),
    }
}

/// The id that the first fact of a chain is stored with, by any id of the chain.
fn first_of(uuid: &str) -> Option<String> {
    let rest = uuid.len().checked_sub(NO_RECEIVER.len())?;
    uuid.get(..rest).map(|first| format!("{first}{NO_RECEIVER}"))
}

fn new_chain() -> String {
    let new = uuid::new();
    first_of(&new).unwrap_or(new)
}

/// The chain that the facts of a transaction go on with; where there is none, each of them begins one.
#[derive(Debug, Default)]
pub(super) struct Chain {
    cause: Option<Arc<str>>,
    /// The receivers in it, once for each fact of it that they were told.
    members: Vec<String>,
}

impl Chain {
    /// The one that led to the transaction. An id that nobody was told is nobody's to give.
    pub(super) fn of(tx: &mut Tx<'_>) -> Result<Self> {
        let Some(cause) = tx.cause.clone() else { return Ok(Self::default()) };
        let members = members(tx, &cause)?;
        let cause = (!members.is_empty()).then_some(cause);
        Ok(Self { cause, members })
    }

    /// Adds a fact: its id, and who is told of it. Where somebody who was told of a fact leads to the next one, it has the id
    /// that they were told, and nobody in the chain is told of it: neither they, nor whoever was told of a fact with that id.
    ///
    /// Whoever has a webhook knows ids of facts, and can name one in any request. So that nobody hides from administrators, a
    /// system hook is told of [`MOST_IN_CHAIN`] facts of a chain.
    pub(super) fn add(&mut self, header: &str, receivers: &[Receiver]) -> (String, Vec<Receiver>) {
        let Some(cause) = &self.cause else { return (new_chain(), receivers.to_vec()) };
        let uuid = cause.to_string();
        let told = match header {
            SYSTEM_HEADER => self.system_receivers(receivers),
            _ => self.new_receivers(receivers),
        };
        self.members.extend(told.iter().map(Receiver::to_string));
        (uuid, told)
    }

    fn system_receivers(&self, receivers: &[Receiver]) -> Vec<Receiver> {
        let times = |name: &str| self.members.iter().filter(|other| *other == name).count();
        let is_new = |receiver: &&Receiver| times(&receiver.to_string()) < MOST_IN_CHAIN;
        receivers.iter().filter(is_new).copied().collect()
    }

    fn new_receivers(&self, receivers: &[Receiver]) -> Vec<Receiver> {
        let members: BTreeSet<&str> = self.members.iter().map(String::as_str).collect();
        let room = MOST_IN_CHAIN.saturating_sub(members.len());
        let is_new = |receiver: &&Receiver| !members.contains(receiver.to_string().as_str());
        receivers.iter().filter(is_new).take(room).copied().collect()
    }
}

/// Who is in a chain, once for each fact of it that they were told: whoever was told this id of its first fact, and all
/// who were told of what followed.
fn members(tx: &mut Tx<'_>, cause: &str) -> Result<Vec<String>> {
    let Some(first) = first_of(cause) else { return Ok(Vec::new()) };
    let chain = hook_events::table
        .filter(hook_events::uuid.eq(cause).or(hook_events::uuid.eq(first.as_str())))
        .filter(hook_events::created_at.gt(tx.now.plus(-CHAIN)))
        .select((hook_events::uuid, hook_events::receivers));
    let facts: Vec<(String, String)> =
        each_backend!(tx, |conn| chain.load(conn).map_err(error(NOUN)))?;
    let mut members = Vec::new();
    for (uuid, receivers) in facts {
        let is_told = |name: &&str| {
            let receiver = Receiver::parse(name);
            receiver.is_some_and(|receiver| uuid_for(&uuid, receiver) == cause)
        };
        members.extend(receivers.split(' ').filter(is_told).map(str::to_owned));
    }
    Ok(members)
}

#[cfg(test)]
mod tests {
    use kernel::ids::{HookId, IntegrationId};

    use super::{NO_RECEIVER, Receiver, first_of, new_chain, uuid_for};

    #[test]
    fn each_receiver_is_told_an_id_of_its_own_by_which_the_first_fact_is_found() {
        let first = new_chain();
        let ids = [
            Receiver::Hook(HookId(7)),
            Receiver::Hook(HookId(8)),
            Receiver::Integration(IntegrationId(7)),
        ]
        .map(|receiver| uuid_for(&first, receiver));
        assert!(ids[0] != ids[1] && ids[0] != ids[2] && !ids[0].ends_with(NO_RECEIVER));
        for id in &ids {
            assert_eq!((id.len(), first_of(id)), (36, Some(first.clone())));
            assert_eq!(uuid_for(id, Receiver::Hook(HookId(9))), *id, "what follows keeps its id");
        }
        assert_eq!(first_of("short"), None);
    }
}
