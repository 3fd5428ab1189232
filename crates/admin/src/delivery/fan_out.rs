//! From a fact, which is one row, to a row for each of its receivers. The transaction of the fact pays for the one row
//! alone, whoever is told.

use std::collections::{BTreeSet, HashMap};

use db::{
    Conn, OneOf as _, Tx, each_backend, error,
    schema::{hook_deliveries as deliveries, hook_events},
};
use diesel::{dsl::exists, prelude::*, sql_query};
use kernel::{
    Result, Ts,
    ids::{HookEventId, HookId, IntegrationId},
};

use super::Receiver;
use crate::{
    hook::{AlertStatus, Hook, HookStore as _},
    integration::IntegrationStore as _,
    uuid,
};

const NOUN: &str = "Hook Delivery";
/// Facts that are queued at once, and rows of one statement: each has 8 values, and a statement of SQLite takes 32,766.
const EVENTS_AT_ONCE: i64 = 32;
const ROWS_AT_ONCE: usize = 1_000;
/// Arbitrary, and nobody else's.
const LOCK: i64 = 4_207_003;

/// A fact whose receivers have no rows yet.
#[derive(Queryable, Selectable)]
#[diesel(table_name = hook_events, check_for_backend(db::AnyBackend))]
struct UnqueuedEvent {
    id: HookEventId,
    object: String,
    receivers: String,
    created_at: Ts,
}

pub(super) fn queue_events(tx: &mut Tx<'_>) -> Result<bool> {
    if let Conn::Postgres(conn) = &mut tx.conn {
        let any = hook_events::table.filter(diesel::dsl::not(hook_events::queued));
        let any: bool = diesel::select(exists(any)).get_result(*conn).map_err(error(NOUN))?;
        if !any {
            return Ok(false);
        }
        // One server at a time, so that facts of one object keep their order.
        let lock = sql_query(format!("SELECT pg_advisory_xact_lock({LOCK})"));
        lock.execute(*conn).map_err(error(NOUN))?;
    }
    let next = hook_events::table
        .filter(diesel::dsl::not(hook_events::queued))
        .order(hook_events::id)
        .limit(EVENTS_AT_ONCE);
    let events: Vec<UnqueuedEvent> = each_backend!(tx, |conn| next
        .select(UnqueuedEvent::as_select())
        .load(conn)
        .map_err(error(NOUN)))?;
    if events.is_empty() {
        return Ok(false);
    }
    let rows = rows_of(tx, &events)?;
    for some in rows.chunks(ROWS_AT_ONCE) {
        let insert = diesel::insert_into(deliveries::table).values(some);
        each_backend!(tx, |conn| insert.execute(conn).map_err(error(NOUN)))?;
    }
    let ids: Vec<HookEventId> = events.iter().map(|event| event.id).collect();
    let queued = diesel::update(hook_events::table.filter(hook_events::id.one_of(&ids)))
        .set(hook_events::queued.eq(true));
    each_backend!(tx, |conn| queued.execute(conn).map_err(error(NOUN)))?;
    Ok(true)
}

/// A delivery that nobody has taken.
// Rows with a default among their values would be inserted one by one on SQLite.
#[derive(Insertable)]
#[diesel(table_name = deliveries, treat_none_as_default_value = false)]
struct NewDelivery {
    event_id: HookEventId,
    hook_id: Option<HookId>,
    integration_id: Option<IntegrationId>,
    lane: String,
    idempotency_key: String,
    attempts: i32,
    run_at: Ts,
    created_at: Ts,
}

fn rows_of(tx: &mut Tx<'_>, events: &[UnqueuedEvent]) -> Result<Vec<NewDelivery>> {
    let named = |event: &UnqueuedEvent| -> Vec<Receiver> {
        event.receivers.split(' ').filter_map(Receiver::parse).collect()
    };
    let all: Vec<Receiver> = events.iter().flat_map(named).collect();
    let (mut hooks, mut integrations) = (BTreeSet::new(), BTreeSet::new());
    for receiver in all {
        match receiver {
            Receiver::Hook(id) => drop(hooks.insert(id)),
            Receiver::Integration(id) => drop(integrations.insert(id)),
        }
    }
    let hooks: Vec<HookId> = hooks.into_iter().collect();
    let hooks: HashMap<HookId, Hook> =
        tx.hooks_with(&hooks)?.into_iter().map(|hook| (hook.id, hook)).collect();
    let integrations: Vec<IntegrationId> = integrations.into_iter().collect();
    let integrations: BTreeSet<IntegrationId> =
        tx.integrations_with(&integrations)?.into_iter().map(|row| row.id).collect();
    let now = tx.now;
    let row = |event: &UnqueuedEvent, receiver: Receiver| {
        let (hook_id, integration_id, from) = match receiver {
            Receiver::Hook(id) => {
                let hook = hooks.get(&id)?;
                if hook.health().status(now) == AlertStatus::Disabled {
                    return None;
                }
                (Some(id), None, hook.disabled_until.unwrap_or(now))
            }
            Receiver::Integration(id) => (None, Some(*integrations.get(&id)?), now),
        };
        Some(NewDelivery {
            event_id: event.id,
            hook_id,
            integration_id,
            lane: format!("{receiver}/{}", event.object),
            idempotency_key: uuid::new(),
            attempts: 0,
            run_at: from.max(event.created_at),
            created_at: event.created_at,
        })
    };
    let rows = events.iter().flat_map(|event| {
        named(event).into_iter().filter_map(|receiver| row(event, receiver)).collect::<Vec<_>>()
    });
    Ok(rows.collect())
}
