//! Sends what is due: many at once, few to one host, and what happened to one object in its order. What is not finished
//! when the server ends is sent by the next one.

mod conclude;
mod context;
mod deliver;
mod health;
mod parts;
mod retry;
mod sent_request;

use std::{sync::Arc, time::Duration};

use admin::delivery::DeliveryQueue as _;
use kernel::{Error, Result};
use org::settings::store::SettingsStore as _;
use tokio::{sync::watch, task::JoinSet};

use self::{context::DeliveryContext, deliver::deliver, retry::put_back};
pub(super) use self::{
    health::note_health,
    sent_request::{SentRequest, failure_text},
};
use crate::Forge;

/// How long an idle server rests before it looks again.
const REST: Duration = Duration::from_secs(1);
/// How long it waits for further events after the first one. Meanwhile whoever made that one, be it `git push`, ends, which would
/// take longer beside the first deliveries.
const GATHERING: Duration = Duration::from_millis(30);

/// Sends until `stop` turns true; what is under way is finished first.
pub async fn run(forge: Forge, mut stop: watch::Receiver<bool>) {
    let mut tasks = JoinSet::new();
    while !*stop.borrow() {
        while tasks.try_join_next().is_some() {}
        match round(&forge, &mut tasks).await {
            Ok(Round { taken: 0, queued: false }) => {}
            Ok(_) => continue,
            Err(cause) => tracing::error!(error = %cause, "deliveries cannot be read"),
        }
        let rest = tokio::time::timeout(REST, async {
            tokio::select! {
                () = forge.courier.wake.notified() => tokio::time::sleep(GATHERING).await,
                _ = tasks.join_next(), if !tasks.is_empty() => {}
                _ = stop.changed() => {}
            }
        });
        let _ = rest.await;
    }
    while tasks.join_next().await.is_some() {}
}

impl Forge {
    /// Sends everything that is due now; returns how much that was. For tests and tools.
    ///
    /// # Errors
    /// When the queue cannot be read.
    pub async fn deliver_due(&self) -> Result<usize> {
        let (mut tasks, mut count) = (JoinSet::new(), 0);
        loop {
            let Round { taken, queued } = round(self, &mut tasks).await?;
            count += taken;
            if taken == 0 && !queued && tasks.join_next().await.is_none() {
                return Ok(count);
            }
        }
    }
}

/// The result of one pass over the queue.
struct Round {
    /// Deliveries that are being sent now.
    taken: usize,
    /// Whether facts were queued for their receivers, so that there may be more.
    queued: bool,
}

/// Takes what is due, and begins to send it. Facts are queued only as fast as their deliveries are sent.
async fn round(forge: &Forge, tasks: &mut JoinSet<()>) -> Result<Round> {
    let courier = &forge.courier;
    let room = courier.taken.available_permits();
    if room == 0 {
        return Ok(Round { taken: 0, queued: false });
    }
    let busy = courier.hosts.busy();
    let most = i64::try_from(courier.batch_size.next(room)).unwrap_or(1);
    let by = forge.key.name().to_owned();
    let taken = forge.db.write(move |tx| {
        let mut taken = tx.take_deliveries(most, &busy, &by)?;
        let room = most - i64::try_from(taken.len()).unwrap_or(most);
        let queued = room > 0 && tx.queue_events()?;
        if queued {
            taken.extend(tx.take_deliveries(room, &busy, &by)?);
        }
        let settings = if taken.is_empty() { None } else { Some(tx.settings()?) };
        Ok((DeliveryContext::load(tx, taken)?, settings, queued))
    });
    let (around, settings, queued) = taken.await?;
    // Another server may have changed where requests may go.
    if let Some(settings) = settings {
        courier.rules.follow(&settings);
    }
    let around = Arc::new(around);
    for delivery in &around.deliveries {
        let room = Arc::clone(&courier.taken).acquire_owned().await.map_err(Error::internal)?;
        let (forge, around, delivery) = (forge.clone(), Arc::clone(&around), delivery.clone());
        tasks.spawn(async move {
            if let Err(cause) = deliver(&forge, &around, &delivery).await {
                tracing::error!(error = %cause, "a delivery was put back");
                let put_back = put_back(&forge, &delivery).await;
                put_back.unwrap_or_else(|cause| tracing::error!(error = %cause, "it stays taken"));
            }
            drop(room);
        });
    }
    Ok(Round { taken: around.deliveries.len(), queued })
}
