//! The queue of deliveries as rows: the fact is noted in its transaction, queued for each receiver by whoever sends, taken
//! by one server, gone when done.

use std::collections::BTreeMap;

use db::{
    OneOf as _, Tx, each_backend, error,
    schema::{hook_deliveries as deliveries, hook_events},
};
use diesel::{dsl::exists, prelude::*, sql_types::Bool};
use kernel::{
    Result, Ts,
    ids::{HookDeliveryId, HookEventId, HookId, IntegrationId, ProjectId},
};
use time::Duration;

use super::{Delivery, HookEvent, NewEvent, Receiver, chain::Chain, fan_out::queue_events};
use crate::flags::Flag;

const NOUN: &str = "Hook Delivery";
/// Facts of one statement: each has 10 values, and a statement of SQLite takes 32,766.
const EVENTS_AT_ONCE: usize = 1_000;
/// How long a server that took a delivery may keep it to itself: longer than any request.
const LEASE: Duration = Duration::minutes(2);

/// Receivers that are told nothing at the moment.
#[derive(Clone, Debug, Default)]
pub struct BusyReceivers {
    pub hooks: Vec<HookId>,
    pub integrations: Vec<IntegrationId>,
}

/// A fact whose receivers have no rows yet.
// Rows with a default among their values would be inserted one by one on SQLite.
#[derive(Insertable)]
#[diesel(table_name = hook_events, treat_none_as_default_value = false)]
struct NewHookEvent<'e> {
    uuid: String,
    trigger_name: Flag,
    header: &'static str,
    project_id: Option<ProjectId>,
    payload: &'e str,
    gaps: Option<&'e str>,
    created_at: Ts,
    receivers: String,
    object: &'e str,
    queued: bool,
}

fn insert_events(tx: &mut Tx<'_>, rows: &[NewHookEvent<'_>]) -> Result<()> {
    // A statement of one row is prepared once for all; those of many are prepared each time.
    if let [row] = rows {
        let insert = diesel::insert_into(hook_events::table).values(row);
        each_backend!(tx, |conn| insert.execute(conn).map_err(error(NOUN)))?;
        return Ok(());
    }
    for some in rows.chunks(EVENTS_AT_ONCE) {
        let insert = diesel::insert_into(hook_events::table).values(some);
        each_backend!(tx, |conn| insert.execute(conn).map_err(error(NOUN)))?;
    }
    Ok(())
}

/// Deliveries by the end of their lease: those that were taken together have the same.
fn by_lease(taken: &[&Delivery]) -> BTreeMap<Option<Ts>, Vec<HookDeliveryId>> {
    let mut all: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for one in taken {
        all.entry(one.locked_until).or_default().push(one.id);
    }
    all
}

pub trait DeliveryQueue {
    /// Notes a fact, and who is to be told; nothing where there is nobody. It is one row, however many they are.
    fn announce(&mut self, event: &NewEvent, receivers: &[Receiver]) -> Result<()>;
    /// As [`announce`](Self::announce), of many facts by a few statements.
    fn announce_all(&mut self, events: &[NewEvent], receivers: &[Receiver]) -> Result<()>;
    /// Makes a row for each receiver of the next facts, in their order; false where there are none. Whoever is gone, or
    /// wants nothing more, gets none.
    fn queue_events(&mut self) -> Result<bool>;
    /// Takes what is due for the server of this name, the oldest first, at most so much: of each lane the first, and
    /// nothing for `busy` ones.
    fn take_deliveries(
        &mut self,
        most: i64,
        busy: &BusyReceivers,
        by: &str,
    ) -> Result<Vec<Delivery>>;
    /// Frees what a server that was killed had taken; for its next start, before anything is taken. Other servers keep
    /// what they are sending; where there are none, whatever was taken is free. How many these were.
    fn free_deliveries(&mut self, of: Option<&str>) -> Result<usize>;
    fn events_with(&mut self, ids: &[HookEventId]) -> Result<Vec<HookEvent>>;
    /// Keeps a payload with what was to be added.
    fn complete_event(&mut self, id: HookEventId, payload: &str) -> Result<()>;
    /// Ends one that was taken; nothing where another server has taken it since.
    fn finish_delivery(&mut self, taken: &Delivery) -> Result<()>;
    /// As [`finish_delivery`](Self::finish_delivery), of many.
    fn finish_deliveries(&mut self, taken: &[&Delivery]) -> Result<()>;
    /// Leaves those that were taken to whoever takes them next, as they were.
    fn release_deliveries(&mut self, taken: &[&Delivery]) -> Result<()>;
    /// Puts one back, to be sent at another time; nothing where another server has taken it since.
    fn postpone_delivery(&mut self, taken: &Delivery, at: Ts, attempts: i32) -> Result<()>;
    /// Says from when on a hook may be told what waits for it.
    fn postpone_hook(&mut self, id: HookId, at: Ts) -> Result<()>;
    /// Forgets what waits for a hook that wants nothing more.
    fn drop_deliveries_of(&mut self, id: HookId) -> Result<()>;
    /// Forgets facts of before a moment that nobody is to be told any more, at most so many; how many there were.
    fn forget_events(&mut self, before: Ts, most: i64) -> Result<usize>;
    /// Forgets what has waited since before a moment, at most so much; how much that was.
    fn forget_deliveries(&mut self, before: Ts, most: i64) -> Result<usize>;
    /// Deliveries that wait, and facts whose receivers are not queued yet.
    fn waiting_deliveries(&mut self) -> Result<i64>;
}

impl DeliveryQueue for Tx<'_> {
    fn announce(&mut self, event: &NewEvent, receivers: &[Receiver]) -> Result<()> {
        self.announce_all(std::slice::from_ref(event), receivers)
    }

    fn announce_all(&mut self, events: &[NewEvent], receivers: &[Receiver]) -> Result<()> {
        if receivers.is_empty() {
            return Ok(());
        }
        let (mut chain, now) = (Chain::of(self)?, self.now);
        let rows = events.iter().filter_map(|event| {
            let (uuid, receivers) = chain.add(event.header, receivers);
            let names: Vec<String> = receivers.iter().map(Receiver::to_string).collect();
            (!names.is_empty()).then(|| NewHookEvent {
                uuid,
                trigger_name: event.trigger,
                header: event.header,
                project_id: event.project,
                payload: &event.payload,
                gaps: event.gaps.as_deref(),
                created_at: now,
                receivers: names.join(" "),
                object: &event.object,
                queued: false,
            })
        });
        let rows: Vec<NewHookEvent<'_>> = rows.collect();
        insert_events(self, &rows)
    }

    fn queue_events(&mut self) -> Result<bool> {
        queue_events(self)
    }

    fn take_deliveries(
        &mut self,
        most: i64,
        busy: &BusyReceivers,
        by: &str,
    ) -> Result<Vec<Delivery>> {
        let now = self.now;
        let earlier = diesel::alias!(deliveries as earlier);
        let before = earlier
            .filter(earlier.field(deliveries::lane).eq(deliveries::lane))
            .filter(earlier.field(deliveries::id).lt(deliveries::id));
        let free = deliveries::locked_until.is_null().or(deliveries::locked_until.le(now));
        let BusyReceivers { hooks, integrations } = busy;
        let open = deliveries::hook_id.is_null().or(deliveries::hook_id.ne_all(hooks));
        let other = deliveries::integration_id.ne_all(integrations);
        let other = deliveries::integration_id.is_null().or(other);
        let due = deliveries::table
            .filter(deliveries::run_at.le(now))
            .filter(free)
            .filter(open.assume_not_null())
            .filter(other.assume_not_null())
            .filter(diesel::dsl::not(exists(before)))
            .order((deliveries::run_at, deliveries::id))
            .limit(most)
            .select(deliveries::id);
        let ids: Vec<HookDeliveryId> =
            each_backend!(self, |conn| due.load(conn).map_err(error(NOUN)))?;
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let free = deliveries::locked_until.is_null().or(deliveries::locked_until.le(now));
        let mine = deliveries::table.filter(deliveries::id.eq_any(ids)).filter(free);
        let take = diesel::update(mine).set((
            deliveries::locked_until.eq(Some(now.plus(LEASE))),
            deliveries::taken_by.eq(Some(by)),
        ));
        let mut taken: Vec<Delivery> = each_backend!(self, |conn| take
            .returning(Delivery::as_returning())
            .get_results(conn)
            .map_err(error(NOUN)))?;
        taken.sort_by_key(|one| one.id);
        Ok(taken)
    }

    fn free_deliveries(&mut self, of: Option<&str>) -> Result<usize> {
        let own = deliveries::taken_by.eq(of).assume_not_null();
        let own = own.or(of.is_none().into_sql::<Bool>());
        let taken = deliveries::table.filter(deliveries::locked_until.is_not_null().and(own));
        each_backend!(self, |conn| diesel::update(taken)
            .set(deliveries::locked_until.eq(None::<Ts>))
            .execute(conn)
            .map_err(error(NOUN)))
    }

    fn events_with(&mut self, ids: &[HookEventId]) -> Result<Vec<HookEvent>> {
        let all = hook_events::table.filter(hook_events::id.one_of(ids));
        each_backend!(self, |conn| all
            .select(HookEvent::as_select())
            .load(conn)
            .map_err(error(NOUN)))
    }

    fn complete_event(&mut self, id: HookEventId, payload: &str) -> Result<()> {
        let values = (hook_events::payload.eq(payload), hook_events::gaps.eq(None::<String>));
        let update = diesel::update(hook_events::table.find(id)).set(values);
        each_backend!(self, |conn| update.execute(conn).map_err(error(NOUN)))?;
        Ok(())
    }

    fn finish_delivery(&mut self, taken: &Delivery) -> Result<()> {
        self.finish_deliveries(&[taken])
    }

    fn finish_deliveries(&mut self, taken: &[&Delivery]) -> Result<()> {
        for (lease, ids) in by_lease(taken) {
            let rows = deliveries::table.filter(deliveries::id.eq_any(ids));
            let gone = diesel::delete(rows.filter(deliveries::locked_until.eq(lease)));
            each_backend!(self, |conn| gone.execute(conn).map_err(error(NOUN)))?;
        }
        Ok(())
    }

    fn release_deliveries(&mut self, taken: &[&Delivery]) -> Result<()> {
        for (lease, ids) in by_lease(taken) {
            let rows = deliveries::table.filter(deliveries::id.eq_any(ids));
            let free = diesel::update(rows.filter(deliveries::locked_until.eq(lease)))
                .set(deliveries::locked_until.eq(None::<Ts>));
            each_backend!(self, |conn| free.execute(conn).map_err(error(NOUN)))?;
        }
        Ok(())
    }

    fn postpone_delivery(&mut self, taken: &Delivery, at: Ts, attempts: i32) -> Result<()> {
        let values = (
            deliveries::run_at.eq(at),
            deliveries::attempts.eq(attempts),
            deliveries::locked_until.eq(None::<Ts>),
        );
        let row = deliveries::table.find(taken.id);
        let row = row.filter(deliveries::locked_until.eq(taken.locked_until));
        let update = diesel::update(row).set(values);
        each_backend!(self, |conn| update.execute(conn).map_err(error(NOUN)))?;
        Ok(())
    }

    fn postpone_hook(&mut self, id: HookId, at: Ts) -> Result<()> {
        let all = deliveries::table.filter(deliveries::hook_id.eq(id));
        let update = diesel::update(all).set(deliveries::run_at.eq(at));
        each_backend!(self, |conn| update.execute(conn).map_err(error(NOUN)))?;
        Ok(())
    }

    fn drop_deliveries_of(&mut self, id: HookId) -> Result<()> {
        let all = diesel::delete(deliveries::table.filter(deliveries::hook_id.eq(id)));
        each_backend!(self, |conn| all.execute(conn).map_err(error(NOUN)))?;
        Ok(())
    }

    fn forget_events(&mut self, before: Ts, most: i64) -> Result<usize> {
        let waits = deliveries::table.filter(deliveries::event_id.eq(hook_events::id));
        let old = hook_events::table
            .filter(hook_events::created_at.lt(before))
            .filter(hook_events::queued)
            .filter(diesel::dsl::not(exists(waits)))
            .limit(most)
            .select(hook_events::id);
        let old: Vec<HookEventId> =
            each_backend!(self, |conn| old.load(conn).map_err(error(NOUN)))?;
        if old.is_empty() {
            return Ok(0);
        }
        let gone = diesel::delete(hook_events::table.filter(hook_events::id.eq_any(old)));
        each_backend!(self, |conn| gone.execute(conn).map_err(error(NOUN)))
    }

    fn forget_deliveries(&mut self, before: Ts, most: i64) -> Result<usize> {
        let unqueued = hook_events::table
            .filter(diesel::dsl::not(hook_events::queued))
            .filter(hook_events::created_at.lt(before));
        let drop_them = diesel::update(unqueued).set(hook_events::queued.eq(true));
        each_backend!(self, |conn| drop_them.execute(conn).map_err(error(NOUN)))?;
        let old = deliveries::table
            .filter(deliveries::created_at.lt(before))
            .limit(most)
            .select(deliveries::id);
        let old: Vec<HookDeliveryId> =
            each_backend!(self, |conn| old.load(conn).map_err(error(NOUN)))?;
        if old.is_empty() {
            return Ok(0);
        }
        let gone = diesel::delete(deliveries::table.filter(deliveries::id.eq_any(old)));
        each_backend!(self, |conn| gone.execute(conn).map_err(error(NOUN)))
    }

    fn waiting_deliveries(&mut self) -> Result<i64> {
        let queued = deliveries::table.count();
        let unqueued = hook_events::table.filter(diesel::dsl::not(hook_events::queued)).count();
        each_backend!(self, |conn| {
            let queued: i64 = queued.get_result(conn).map_err(error(NOUN))?;
            let unqueued: i64 = unqueued.get_result(conn).map_err(error(NOUN))?;
            Ok(queued + unqueued)
        })
    }
}
