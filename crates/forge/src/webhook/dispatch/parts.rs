//! Deliveries that take several messages: each of them becomes an event of its own, so that one that fails is sent again without
//! the others.

use std::sync::Arc;

use admin::{
    delivery::{Delivery, DeliveryQueue as _, HookEvent, NewEvent, Receiver},
    integration::Integration,
};
use kernel::{Error, Result};
use serde_json::Value;

use crate::{
    Forge,
    integration::{has_parts, parts},
};

/// Puts the parts of an event into the place of a delivery to an integration that is told of them one by one; false where one
/// message says all.
pub(super) async fn queue_parts(
    forge: &Forge,
    delivery: &Delivery,
    row: &Integration,
    event: &HookEvent,
) -> Result<bool> {
    if !has_parts(row) {
        return Ok(false);
    }
    let payload: Value = serde_json::from_str(&event.payload).map_err(Error::internal)?;
    let parts = parts(row, &payload);
    if parts.len() < 2 {
        return Ok(false);
    }
    let object = delivery.lane.split_once('/').map_or("", |(_, object)| object);
    let events: Vec<NewEvent> = parts.iter().map(|part| part_event(event, object, part)).collect();
    let (delivery, wake) = (delivery.clone(), Arc::clone(&forge.courier.wake));
    let receiver = Receiver::Integration(row.id);
    let queued = forge.db.write(move |tx| {
        tx.announce_all(&events, &[receiver])?;
        tx.after_commit(move || wake.notify_one());
        tx.finish_delivery(&delivery)
    });
    queued.await?;
    Ok(true)
}

/// Trackers are told of pushes alone.
fn part_event(event: &HookEvent, object: &str, part: &Value) -> NewEvent {
    NewEvent {
        trigger: event.trigger_name,
        header: "Push Hook",
        project: event.project_id,
        object: object.to_owned(),
        payload: part.to_string(),
        gaps: None,
    }
}
