//! What webhooks are still to be told.

use admin::{
    delivery::{BusyReceivers, Delivery, DeliveryQueue as _, NewEvent, Receiver},
    flags::Flag,
    hook::{Health, Hook, HookStore as _},
};
use db::Tx;
use kernel::Result;
use time::Duration;

use crate::world::{World, test, to};

fn event(world: &World, object: &str) -> NewEvent {
    NewEvent {
        trigger: Flag::Push,
        header: "Push Hook",
        project: Some(world.project),
        object: object.to_owned(),
        payload: "{}".to_owned(),
        gaps: None,
    }
}

fn hook(tx: &mut Tx<'_>, world: &World) -> Result<Hook> {
    world.hook(tx, to("https://a.example.com"))
}

fn taken(tx: &mut Tx<'_>) -> Result<Vec<Delivery>> {
    while tx.queue_events()? {}
    tx.take_deliveries(100, &BusyReceivers::default(), "one")
}

#[test]
fn each_receiver_is_told_what_happens_to_one_object_one_after_another() {
    test(|tx, world| {
        let (one, other) = (hook(tx, world)?, hook(tx, world)?);
        let both = [Receiver::Hook(one.id), Receiver::Hook(other.id)];
        for object in ["main", "main", "topic"] {
            tx.announce(&event(world, object), &both)?;
        }

        let first = taken(tx)?;

        assert_eq!(first.len(), 4, "the second of main waits for the first");
        assert!(taken(tx)?.is_empty(), "they are taken");
        let main: Vec<&Delivery> = first.iter().filter(|one| one.lane.ends_with("main")).collect();
        tx.finish_deliveries(&main)?;
        assert_eq!(taken(tx)?.len(), 2);
        Ok(())
    });
}

#[test]
fn facts_that_come_together_are_told_as_if_they_came_one_after_another() {
    test(|tx, world| {
        let (one, other) = (hook(tx, world)?, hook(tx, world)?);
        let both = [Receiver::Hook(one.id), Receiver::Hook(other.id)];
        let events = ["main", "topic"].map(|object| event(world, object));
        tx.announce_all(&events, &both)?;
        let first = taken(tx)?;
        assert_eq!(first.len(), 4);
        let ids: Vec<_> = first.iter().map(|one| one.event_id).collect();
        let stored = tx.events_with(&ids)?;
        assert_eq!(stored.len(), 2);
        assert_ne!(stored[0].uuid, stored[1].uuid, "each begins a chain");

        tx.cause = Some(stored[0].uuid_for(both[0]).into());
        tx.announce_all(&events, &both)?;
        tx.finish_deliveries(&first.iter().collect::<Vec<_>>())?;
        let next = taken(tx)?;
        assert_eq!(next.len(), 1, "a chain tells nobody twice");
        assert_eq!(next[0].hook_id, Some(other.id));
        Ok(())
    });
}

#[test]
fn a_server_that_starts_frees_what_it_had_taken_and_leaves_alone_what_others_send() {
    test(|tx, world| {
        let hook = hook(tx, world)?;
        tx.announce(&event(world, "main"), &[Receiver::Hook(hook.id)])?;
        assert_eq!(taken(tx)?.len(), 1);
        assert_eq!(tx.free_deliveries(Some("two"))?, 0);
        assert!(taken(tx)?.is_empty(), "the first one sends it");

        assert_eq!(tx.free_deliveries(Some("one"))?, 1);
        assert_eq!(taken(tx)?.len(), 1);
        assert_eq!(tx.free_deliveries(None)?, 1, "there is one server, whatever it was called");
        assert_eq!(tx.free_deliveries(None)?, 0);
        assert_eq!(taken(tx)?.len(), 1);
        Ok(())
    });
}

#[test]
fn a_webhook_that_is_gone_or_left_alone_is_told_nothing() {
    test(|tx, world| {
        let (gone, alone, kept) = (hook(tx, world)?, hook(tx, world)?, hook(tx, world)?);
        let all = [gone.id, alone.id, kept.id].map(Receiver::Hook);
        tx.announce(&event(world, "main"), &all)?;
        tx.delete_hook(gone.id)?;
        tx.keep_health(alone.id, Health::default(), Health { failures: 4, ..Health::default() })?;
        let told: Vec<_> = taken(tx)?.iter().filter_map(|one| one.hook_id).collect();
        assert_eq!(told, [kept.id]);
        Ok(())
    });
}

#[test]
fn what_happens_during_a_pause_waits_for_its_end() {
    test(|tx, world| {
        let hook = hook(tx, world)?;
        let end = tx.now.plus(Duration::minutes(10));
        let paused = Health { backoffs: 1, disabled_until: Some(end), ..Health::default() };
        tx.keep_health(hook.id, Health::default(), paused)?;
        tx.announce(&event(world, "main"), &[Receiver::Hook(hook.id)])?;
        assert!(taken(tx)?.is_empty());
        tx.now = end;
        assert_eq!(taken(tx)?.len(), 1);
        Ok(())
    });
}

#[test]
fn a_delivery_that_another_server_took_over_is_not_ended() {
    test(|tx, world| {
        let hook = hook(tx, world)?;
        tx.announce(&event(world, "main"), &[Receiver::Hook(hook.id)])?;
        let mine = taken(tx)?.remove(0);
        tx.now = tx.now.plus(Duration::minutes(3));
        let theirs = taken(tx)?.remove(0);
        tx.finish_delivery(&mine)?;
        assert_eq!(tx.waiting_deliveries()?, 1);
        assert_eq!(theirs.idempotency_key, mine.idempotency_key, "the receiver can tell");
        tx.finish_delivery(&theirs)?;
        assert_eq!(tx.waiting_deliveries()?, 0);
        Ok(())
    });
}

#[test]
fn who_was_told_of_a_fact_is_not_told_of_what_follows_from_it() {
    test(|tx, world| {
        let (one, other) = (hook(tx, world)?, hook(tx, world)?);
        tx.announce(&event(world, "main"), &[Receiver::Hook(one.id)])?;
        let first = taken(tx)?.remove(0);
        let event_of_first = tx.events_with(&[first.event_id])?.remove(0);
        let uuid = event_of_first.uuid_for(Receiver::Hook(one.id));
        tx.cause = Some(uuid.clone().into());
        let both = [Receiver::Hook(one.id), Receiver::Hook(other.id)];
        tx.announce(&event(world, "topic"), &both)?;
        let next = taken(tx)?;
        assert_eq!(next.iter().filter_map(|one| one.hook_id).collect::<Vec<_>>(), [other.id]);
        assert_eq!(tx.events_with(&[next[0].event_id])?[0].uuid, uuid);
        Ok(())
    });
}
