//! One delivery on its way: made into a request, sent once there is a place for it, and concluded.

use std::{sync::Arc, time::Duration};

use admin::{
    delivery::{Delivery, DeliveryQueue as _, HookEvent},
    hook::{AlertStatus, HookStore as _},
    integration::{Integration, IntegrationStore as _},
    owner::Owner,
};
use kernel::{Error, Result, Ts, task::spawn_blocking};
use serde_json::Value;
use tokio::sync::OwnedSemaphorePermit;

use super::{
    conclude::conclude, context::DeliveryContext, parts::queue_parts, retry::put_back,
    sent_request::SentRequest,
};
use crate::{
    Forge,
    integration::{
        is_by_mail,
        jira::{JiraServer, mentions},
    },
    webhook::{
        courier::Conclusion,
        gaps::{Gaps, fill},
        jira::{JiraFailure, JiraSession},
        letters::Circulars,
        request::{Request, host_of},
    },
};

/// How long a payload may take to be completed, and how long a delivery may wait for a place: with the request that
/// follows less than the lease.
const FILLING: Duration = Duration::from_secs(40);
const WAITING: Duration = Duration::from_secs(30);
/// A receiver that was read longer ago is looked at again before it is told.
const FRESH: time::Duration = time::Duration::milliseconds(100);
/// A payload that could not be completed so often is sent as it is.
const MOST_FILLINGS: i32 = 3;

pub(super) async fn deliver(
    forge: &Forge,
    around: &DeliveryContext,
    delivery: &Delivery,
) -> Result<()> {
    let errand = Errand { delivery, around };
    let Some(shared) = around.events.get(&delivery.event_id) else {
        return finish(forge, delivery).await;
    };
    let read = || completed(forge, shared.row.clone(), delivery.attempts);
    let event = shared.complete.get_or_try_init(read).await?;
    let hook = delivery.hook_id.and_then(|id| around.hooks.get(&id));
    let integration = delivery.integration_id.and_then(|id| around.integrations.get(&id));
    if let Some(row) = integration.filter(|row| row.active && is_by_mail(row)) {
        return write_letters(forge, delivery, row, event).await;
    }
    if let Some(row) = integration.filter(|row| row.active && row.slug == "jira") {
        return tell_jira(forge, &errand, row, event).await;
    }
    if let Some(row) = integration.filter(|row| row.active)
        && queue_parts(forge, delivery, row, event).await?
    {
        return Ok(());
    }
    let (base, key) = (forge.urls.base(), &delivery.idempotency_key);
    let request = match (hook, integration) {
        (Some(hook), _) => Some(Request::to_hook(base, &forge.vault, hook, event, key)?),
        (None, Some(row)) if row.active => {
            Request::to_integration(base, &forge.vault, row, event, key)?
        }
        _ => None,
    };
    let Some(request) = request.map(Arc::new) else { return finish(forge, delivery).await };
    let Some(places) = places_at(forge, &errand, &request.host()).await? else { return Ok(()) };
    let result = forge.courier.send(Arc::clone(&request)).await?;
    // The next one need not wait until this one is written down.
    drop(places);
    let sent = SentRequest { event, request: &request, result: &result };
    let conclusion = Conclusion::Sent {
        guarded: hook.filter(|hook| hook.home() != Owner::Instance).map(|hook| hook.id),
        outcome: sent.outcome(),
        log: hook.map(|hook| Box::new(sent.log(hook, &delivery.idempotency_key, None))),
        delivery: delivery.clone(),
    };
    conclude(forge, conclusion).await
}

/// A delivery with the receivers as they were read before it.
struct Errand<'a> {
    delivery: &'a Delivery,
    around: &'a DeliveryContext,
}

impl Errand<'_> {
    /// Whether its receiver was read so recently that it is not read again. A clock that was set back says nothing of that.
    fn is_fresh(&self, now: Ts) -> bool {
        let read_at = self.around.read_at;
        (read_at..read_at.plus(FRESH)).contains(&now)
    }

    /// What ends it instead of a request, where its receiver is another one now: who is gone or wants nothing more is
    /// told nothing, and who was changed is read by who takes the delivery next.
    async fn end_of_changed(&self, forge: &Forge) -> Result<Option<Conclusion>> {
        let delivery = self.delivery;
        let (hook, integration) = (delivery.hook_id, delivery.integration_id);
        let read = forge.db.read(move |tx| {
            let hook = tx.hooks_with(hook.as_slice())?.pop();
            let integration = tx.integrations_with(integration.as_slice())?.pop();
            Ok((hook, integration, tx.now))
        });
        let (is_wanted, is_same) = match read.await? {
            (Some(hook), _, now) => {
                let before = self.around.hooks.get(&hook.id);
                let is_same = before.is_some_and(|before| {
                    before.updated_at == hook.updated_at && before.sealed == hook.sealed
                });
                (hook.alert_status(now) != AlertStatus::Disabled, is_same)
            }
            (None, Some(row), _) => {
                let before = self.around.integrations.get(&row.id);
                (row.active, before.is_some_and(|before| before.updated_at == row.updated_at))
            }
            (None, None, _) => (false, false),
        };
        Ok(match (is_wanted, is_same) {
            (true, true) => None,
            (true, false) => Some(Conclusion::Left(delivery.clone())),
            (false, _) => Some(Conclusion::Finished(delivery.clone())),
        })
    }
}

/// Letters wait in a queue of their own, so that the delivery ends with them.
async fn write_letters(
    forge: &Forge,
    delivery: &Delivery,
    row: &Integration,
    event: &HookEvent,
) -> Result<()> {
    let circulars = Circulars::of(forge, row, event).await?;
    let delivery = delivery.clone();
    let written = forge.db.write(move |tx| {
        circulars.send(tx)?;
        tx.finish_delivery(&delivery)
    });
    written.await
}

/// Tells the issues of Jira that an event names. What was not heard is told again later.
async fn tell_jira(
    forge: &Forge,
    errand: &Errand<'_>,
    row: &Integration,
    event: &HookEvent,
) -> Result<()> {
    let delivery = errand.delivery;
    let payload: Value = serde_json::from_str(&event.payload).map_err(Error::internal)?;
    let told = mentions(&payload);
    let server = JiraServer::new(row, &row.values(&forge.vault)?).filter(|_| !told.is_empty());
    let Some(server) = server else { return finish(forge, delivery).await };
    let host = host_of(&server.address("", ""));
    let Some(places) = places_at(forge, errand, &host).await? else { return Ok(()) };
    let courier = Arc::clone(&forge.courier);
    let sent = spawn_blocking(move || JiraSession::new(&courier.web, &server).tell(&told));
    let answer = sent.await.map_err(Error::internal)?;
    drop(places);
    match answer {
        Ok(()) => finish(forge, delivery).await,
        Err(JiraFailure::Later(cause)) => {
            tracing::info!(cause, integration = %row.id, "Jira was not reached");
            put_back(forge, delivery).await
        }
        Err(JiraFailure::Refused(status)) => {
            tracing::info!(status, integration = %row.id, "Jira refuses what it is told");
            finish(forge, delivery).await
        }
    }
}

/// Places to send something: one of those that were taken for the host, one at the host, and one of all. Where there is
/// none in time, the delivery is left to who has one; where the receiver was changed meanwhile, nothing is sent to it as it
/// was.
async fn places_at(
    forge: &Forge,
    errand: &Errand<'_>,
    name: &str,
) -> Result<Option<[OwnedSemaphorePermit; 3]>> {
    let (courier, delivery) = (&forge.courier, errand.delivery);
    if let Some((host, taken)) = courier.hosts.take(name, delivery) {
        let sending = async {
            let at_host = host.sending.acquire_owned().await.map_err(Error::internal)?;
            let place = Arc::clone(&courier.in_flight).acquire_owned().await;
            Ok::<_, Error>([taken, at_host, place.map_err(Error::internal)?])
        };
        if let Ok(places) = tokio::time::timeout(WAITING, sending).await {
            let places = places?;
            if errand.is_fresh(forge.db.clock().now()) {
                return Ok(Some(places));
            }
            let Some(end) = errand.end_of_changed(forge).await? else { return Ok(Some(places)) };
            drop(places);
            conclude(forge, end).await?;
            return Ok(None);
        }
        courier.hosts.note_busy(name, delivery);
    }
    courier.batch_size.note_left();
    conclude(forge, Conclusion::Left(delivery.clone())).await?;
    Ok(None)
}

/// An event with what git says; without it where git has not said it after some attempts.
async fn completed(forge: &Forge, event: HookEvent, attempts: i32) -> Result<HookEvent> {
    let Some(gaps) = &event.gaps else { return Ok(event) };
    let payload = match filled(forge, gaps, &event.payload).await {
        Err(cause) if attempts.saturating_add(1) >= MOST_FILLINGS => {
            tracing::warn!(error = %cause, event = %event.id, "a payload is sent incomplete");
            event.payload.clone()
        }
        filled => filled?,
    };
    let (id, text) = (event.id, payload.clone());
    forge.db.write(move |tx| tx.complete_event(id, &text)).await?;
    Ok(HookEvent { payload, gaps: None, ..event })
}

async fn filled(forge: &Forge, gaps: &str, payload: &str) -> Result<String> {
    let payload: Value = serde_json::from_str(payload).map_err(Error::internal)?;
    let work = fill(forge, Gaps::from_text(gaps)?, payload);
    match tokio::time::timeout(FILLING, work).await {
        Ok(filled) => Ok(filled?.to_string()),
        Err(_) => Err(Error::unavailable("a payload was not completed in time")),
    }
}

async fn finish(forge: &Forge, delivery: &Delivery) -> Result<()> {
    conclude(forge, Conclusion::Finished(delivery.clone())).await
}
