//! Sends what is due: many at once, few to one host, and what happened to one object in its order. What is not finished
//! when the server ends is sent by the next one.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use admin::{
    delivery::{BusyReceivers, Delivery, DeliveryQueue as _, HookEvent, LogStore as _, NewLog},
    home::Home,
    hook::{AlertStatus, Hook, HookStore as _, Outcome},
    integration::{Integration, IntegrationStore as _},
};
use kernel::{
    Error, Result, Ts,
    ids::{HookEventId, HookId, IntegrationId, NamespaceId, ProjectId, UserId},
};
use org::settings::store::SettingsStore as _;
use outbound::{Answer, Client, FetchError};
use serde_json::Value;
use tokio::{
    sync::{Notify, OwnedSemaphorePermit, Semaphore, watch},
    task::{JoinSet, spawn_blocking},
};

use super::{
    gaps::{Gaps, fill},
    jira::{JiraFailure, JiraSession},
    letters::Circulars,
    request::{Request, host_of},
    rules::{LONGEST_WAIT, OutgoingRules},
};
use crate::{
    Forge,
    integration::{
        is_by_mail,
        jira::{JiraServer, mentions},
    },
};

/// Requests under way at once, and to one host.
const IN_FLIGHT: usize = 64;
const TO_ONE_HOST: usize = 4;
/// How long an idle courier rests before it looks again.
const REST: Duration = Duration::from_secs(1);
/// How long a payload may take to be completed: with the request that follows less than the lease.
const FILLING: Duration = Duration::from_secs(40);
/// A payload that could not be completed so often is sent as it is.
const MOST_FILLINGS: i32 = 3;
/// So often somebody may have something sent for one project or group in a minute.
const MOST_STARTS: usize = 5;
const START_WINDOW: time::Duration = time::Duration::minutes(1);
/// Seconds after which there may be a place again.
const PLACE_WAIT: u64 = 10;
/// Pauses of receivers that have no state of their own.
const FIRST_PAUSE: time::Duration = time::Duration::seconds(30);
const MOST_DOUBLINGS: i32 = 8;

/// What is shared by all who send.
#[derive(Debug)]
pub struct Courier {
    pub(crate) wake: Arc<Notify>,
    pub rules: OutgoingRules,
    web: Client,
    system: Client,
    in_flight: Arc<Semaphore>,
    hosts: Mutex<HashMap<String, Arc<Semaphore>>>,
    /// The hosts of receivers for which there was no place.
    busy: Mutex<HashMap<ReceiverId, String>>,
    /// When somebody had something sent from a project or group in the last minute.
    starts: Mutex<HashMap<Starter, VecDeque<Ts>>>,
}

/// The hook or the integration that a delivery is for.
type ReceiverId = (Option<HookId>, Option<IntegrationId>);

/// Somebody, and for which project or group they had something sent.
pub(super) type Starter = (Option<ProjectId>, Option<NamespaceId>, UserId);

impl Courier {
    pub(crate) fn new(rules: OutgoingRules, wake: Arc<Notify>) -> Self {
        Self {
            wake,
            web: rules.web().client(),
            system: rules.system().client(),
            rules,
            in_flight: Arc::new(Semaphore::new(IN_FLIGHT)),
            hosts: Mutex::default(),
            busy: Mutex::default(),
            starts: Mutex::default(),
        }
    }

    fn host(&self, name: &str) -> Arc<Semaphore> {
        let mut hosts = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
        // Those to which nothing is under way are forgotten from time to time.
        if hosts.len() > 10 * IN_FLIGHT {
            hosts.retain(|_, places| places.available_permits() < TO_ONE_HOST);
        }
        let places = hosts.entry(name.to_owned());
        Arc::clone(places.or_insert_with(|| Arc::new(Semaphore::new(TO_ONE_HOST))))
    }

    /// Receivers for which there is still no place.
    fn busy(&self) -> BusyReceivers {
        let mut busy = self.busy.lock().unwrap_or_else(PoisonError::into_inner);
        busy.retain(|_, host| self.host(host).available_permits() == 0);
        BusyReceivers {
            hooks: busy.keys().filter_map(|(hook, _)| *hook).collect(),
            integrations: busy.keys().filter_map(|(_, integration)| *integration).collect(),
        }
    }

    fn note_busy(&self, receiver: ReceiverId, host: String) {
        self.busy.lock().unwrap_or_else(PoisonError::into_inner).insert(receiver, host);
    }

    /// Counts that somebody has something sent; refuses whoever has done so often enough.
    pub(super) fn start(&self, starter: Starter, now: Ts) -> Result<()> {
        let mut starts = self.starts.lock().unwrap_or_else(PoisonError::into_inner);
        starts.retain(|_, moments| {
            moments.retain(|moment| moment.plus(START_WINDOW) > now);
            !moments.is_empty()
        });
        let moments = starts.entry(starter).or_default();
        if moments.len() >= MOST_STARTS {
            return Err(Error::too_many(START_WINDOW.whole_seconds().unsigned_abs()));
        }
        moments.push_back(now);
        Ok(())
    }

    /// Places for a request that somebody waits for: one of all, and one at its host.
    pub(super) fn places(&self, request: &Request) -> Result<[OwnedSemaphorePermit; 2]> {
        let none = |_none| Error::too_many(PLACE_WAIT);
        let place = Arc::clone(&self.in_flight).try_acquire_owned().map_err(none)?;
        let at_host = self.host(&request.host()).try_acquire_owned().map_err(none)?;
        Ok([place, at_host])
    }

    /// Sends a request on a thread that may block.
    pub(crate) async fn send(
        self: &Arc<Self>,
        request: Request,
    ) -> Result<std::result::Result<Answer, FetchError>> {
        if request.is_too_large() {
            return Ok(Err(FetchError::TooLarge));
        }
        let courier = Arc::clone(self);
        let sent = spawn_blocking(move || {
            let client = if request.is_system { &courier.system } else { &courier.web };
            client.send(&request.post())
        });
        sent.await.map_err(Error::internal)
    }
}

/// Sends until `stop` turns true; what is under way is finished first.
pub async fn run(forge: Forge, mut stop: watch::Receiver<bool>) {
    let mut tasks = JoinSet::new();
    while !*stop.borrow() {
        while tasks.try_join_next().is_some() {}
        match round(&forge, &mut tasks).await {
            Ok(0) => {}
            Ok(_) => continue,
            Err(cause) => tracing::error!(error = %cause, "deliveries cannot be read"),
        }
        let rest = tokio::time::timeout(REST, async {
            tokio::select! {
                () = forge.courier.wake.notified() => {}
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
            let taken = round(self, &mut tasks).await?;
            count += taken;
            if taken == 0 && tasks.join_next().await.is_none() {
                return Ok(count);
            }
        }
    }
}

/// Takes what is due and there is a place for, and begins to send it; how much that was.
async fn round(forge: &Forge, tasks: &mut JoinSet<()>) -> Result<usize> {
    let courier = &forge.courier;
    let free = courier.in_flight.available_permits();
    if free == 0 {
        return Ok(0);
    }
    let busy = courier.busy();
    let most = i64::try_from(free).unwrap_or(1);
    let taken = forge.db.write(move |tx| {
        let taken = tx.take_deliveries(most, &busy)?;
        let settings = if taken.is_empty() { None } else { Some(tx.settings()?) };
        Ok((DeliveryContext::load(tx, taken)?, settings))
    });
    let (around, settings) = taken.await?;
    // Another server may have changed where requests may go.
    if let Some(settings) = settings {
        courier.rules.follow(&settings);
    }
    let around = Arc::new(around);
    for delivery in &around.deliveries {
        let Ok(place) = Arc::clone(&courier.in_flight).try_acquire_owned() else {
            // Somebody who tries a webhook out was faster.
            leave(forge, delivery).await?;
            continue;
        };
        let (forge, around, delivery) = (forge.clone(), Arc::clone(&around), delivery.clone());
        tasks.spawn(async move {
            if let Err(cause) = deliver(&forge, &around, &delivery).await {
                tracing::error!(error = %cause, "a delivery was put back");
                let put_back = put_back(&forge, &delivery).await;
                put_back.unwrap_or_else(|cause| tracing::error!(error = %cause, "it stays taken"));
            }
            drop(place);
        });
    }
    Ok(around.deliveries.len())
}

/// Deliveries with all that they are made of.
#[derive(Debug)]
struct DeliveryContext {
    deliveries: Vec<Delivery>,
    events: HashMap<HookEventId, HookEvent>,
    hooks: HashMap<HookId, Hook>,
    integrations: HashMap<IntegrationId, Integration>,
}

impl DeliveryContext {
    fn load(tx: &mut db::Tx<'_>, deliveries: Vec<Delivery>) -> Result<Self> {
        let events: Vec<_> = deliveries.iter().map(|one| one.event_id).collect();
        let hooks: Vec<_> = deliveries.iter().filter_map(|one| one.hook_id).collect();
        let others: Vec<_> = deliveries.iter().filter_map(|one| one.integration_id).collect();
        Ok(Self {
            events: tx.events_with(&events)?.into_iter().map(|row| (row.id, row)).collect(),
            hooks: tx.hooks_with(&hooks)?.into_iter().map(|row| (row.id, row)).collect(),
            integrations: tx
                .integrations_with(&others)?
                .into_iter()
                .map(|row| (row.id, row))
                .collect(),
            deliveries,
        })
    }
}

/// What could not even be tried is tried again after a while, unless it has waited too long.
async fn put_back(forge: &Forge, delivery: &Delivery) -> Result<()> {
    let delivery = delivery.clone();
    let attempts = delivery.attempts.saturating_add(1);
    let put_back = forge.db.write(move |tx| {
        if is_old(tx, &delivery) {
            return tx.finish_delivery(&delivery);
        }
        let at = tx.now.plus(pause(attempts));
        tx.postpone_delivery(&delivery, at, attempts)
    });
    put_back.await
}

fn is_old(tx: &db::Tx<'_>, delivery: &Delivery) -> bool {
    delivery.created_at.plus(LONGEST_WAIT) <= tx.now
}

/// Leaves one in the queue as it was, for who has a place for it.
async fn leave(forge: &Forge, delivery: &Delivery) -> Result<()> {
    let delivery = delivery.clone();
    let (at, attempts) = (delivery.run_at, delivery.attempts);
    forge.db.write(move |tx| tx.postpone_delivery(&delivery, at, attempts)).await
}

fn pause(attempts: i32) -> time::Duration {
    FIRST_PAUSE * (1_i32 << attempts.clamp(0, MOST_DOUBLINGS))
}

async fn deliver(forge: &Forge, around: &DeliveryContext, delivery: &Delivery) -> Result<()> {
    let Some(event) = around.events.get(&delivery.event_id) else {
        return finish(forge, delivery).await;
    };
    let event = completed(forge, event.clone(), delivery.attempts).await?;
    let hook = delivery.hook_id.and_then(|id| around.hooks.get(&id));
    let integration = delivery.integration_id.and_then(|id| around.integrations.get(&id));
    if let Some(row) = integration.filter(|row| row.active && is_by_mail(row)) {
        return write_letters(forge, delivery, row, &event).await;
    }
    if let Some(row) = integration.filter(|row| row.active && row.slug == "jira") {
        return tell_jira(forge, delivery, row, &event).await;
    }
    let (base, key) = (forge.urls.base(), &delivery.idempotency_key);
    let request = match (hook, integration) {
        (Some(hook), _) => Some(Request::to_hook(base, &forge.vault, hook, &event, key)?),
        (None, Some(row)) if row.active => {
            Request::to_integration(base, &forge.vault, row, &event, key)?
        }
        _ => None,
    };
    let Some(request) = request else { return finish(forge, delivery).await };
    let Some(_place) = place_at(forge, delivery, request.host()).await? else { return Ok(()) };
    let answer = forge.courier.send(request.clone()).await?;
    let own = own_headers(forge, hook)?;
    let sent = SentRequest { event: &event, request: &request, answer: &answer, own };
    conclude(forge, delivery, hook, sent).await
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
    delivery: &Delivery,
    row: &Integration,
    event: &HookEvent,
) -> Result<()> {
    let payload: Value = serde_json::from_str(&event.payload).map_err(Error::internal)?;
    let told = mentions(&payload);
    let server = JiraServer::new(row, &row.values(&forge.vault)?).filter(|_| !told.is_empty());
    let Some(server) = server else { return finish(forge, delivery).await };
    let host = host_of(&server.address("", ""));
    let Some(_place) = place_at(forge, delivery, host).await? else { return Ok(()) };
    let courier = Arc::clone(&forge.courier);
    let sent = spawn_blocking(move || JiraSession::new(&courier.web, &server).tell(&told));
    match sent.await.map_err(Error::internal)? {
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

/// A place at the host of a request. Where there is none, the delivery waits in the queue.
async fn place_at(
    forge: &Forge,
    delivery: &Delivery,
    name: String,
) -> Result<Option<OwnedSemaphorePermit>> {
    if let Ok(place) = forge.courier.host(&name).try_acquire_owned() {
        return Ok(Some(place));
    }
    forge.courier.note_busy((delivery.hook_id, delivery.integration_id), name);
    leave(forge, delivery).await?;
    Ok(None)
}

/// Headers that people set themselves: their values are nobody's business.
fn own_headers(forge: &Forge, hook: Option<&Hook>) -> Result<Vec<String>> {
    let secrets = hook.map(|hook| hook.secrets(&forge.vault)).transpose()?;
    Ok(secrets.map(|all| all.custom_headers.into_keys().collect()).unwrap_or_default())
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
    let delivery = delivery.clone();
    forge.db.write(move |tx| tx.finish_delivery(&delivery)).await
}

/// What was sent, and what came of it.
pub(super) struct SentRequest<'a> {
    pub(super) event: &'a HookEvent,
    pub(super) request: &'a Request,
    pub(super) answer: &'a std::result::Result<Answer, FetchError>,
    /// The names of headers that people set themselves.
    pub(super) own: Vec<String>,
}

impl SentRequest<'_> {
    pub(super) fn outcome(&self) -> Outcome {
        match self.answer {
            Ok(answer) if (200..400).contains(&answer.status) => Outcome::Success,
            Ok(answer) if (400..500).contains(&answer.status) => Outcome::Refusal,
            // What is not allowed will not be allowed by waiting.
            Err(FetchError::Refused(_) | FetchError::TooLarge) => Outcome::Refusal,
            Ok(_) | Err(_) => Outcome::Failure,
        }
    }

    pub(super) fn log(&self, hook: &Hook, key: &str, by: Option<UserId>) -> NewLog {
        let headers = |all: &[(String, String)]| {
            let all = all.iter().map(|(name, value)| (name.clone(), Value::from(value.as_str())));
            Value::Object(all.collect()).to_string()
        };
        let (response_headers, response_body, response_status, duration) = match self.answer {
            Ok(answer) => (
                headers(&answer.headers),
                answer.body.clone(),
                Some(answer.status),
                answer.duration,
            ),
            Err(cause) => ("{}".to_owned(), cause.to_string(), None, 0.0),
        };
        NewLog {
            hook: hook.id,
            uuid: self.event.uuid.clone(),
            idempotency_key: key.to_owned(),
            trigger: self.event.trigger_name,
            header: self.event.header.clone(),
            url: self.request.shown_url.clone(),
            request_headers: self.request.shown_headers(&self.own),
            request_data: self.request.body.clone(),
            response_headers,
            response_body,
            response_status,
            duration,
            requested_by: by,
        }
    }
}

async fn conclude(
    forge: &Forge,
    delivery: &Delivery,
    hook: Option<&Hook>,
    sent: SentRequest<'_>,
) -> Result<()> {
    let outcome = sent.outcome();
    let log = hook.map(|hook| sent.log(hook, &delivery.idempotency_key, None));
    let delivery = delivery.clone();
    let home = hook.map(Hook::home);
    let done = forge.db.write(move |tx| {
        if let Some(log) = &log {
            tx.insert_log(log)?;
        }
        let guarded = delivery.hook_id.filter(|_| home != Some(Home::Instance));
        let next = match guarded {
            Some(id) => note_health(tx, id, outcome)?,
            None => Some(tx.now.plus(pause(delivery.attempts))),
        };
        match (outcome, next) {
            (Outcome::Failure, Some(at)) if !is_old(tx, &delivery) => {
                tx.postpone_delivery(&delivery, at, delivery.attempts.saturating_add(1))
            }
            _ => tx.finish_delivery(&delivery),
        }
    });
    done.await
}

/// Notes how a hook fares; from when on it may be told again, and nothing where it wants nothing more.
pub(super) fn note_health(tx: &mut db::Tx<'_>, id: HookId, outcome: Outcome) -> Result<Option<Ts>> {
    let Some(hook) = tx.hooks_with(&[id])?.pop() else { return Ok(None) };
    let before = hook.health();
    let after = before.after(outcome, tx.now);
    if after != before {
        tx.keep_health(id, before, after)?;
    }
    match (after.status(tx.now), after.disabled_until) {
        (AlertStatus::Disabled, _) => {
            tx.drop_deliveries_of(id)?;
            Ok(None)
        }
        (_, Some(until)) if after != before => {
            tx.postpone_hook(id, until)?;
            Ok(Some(until))
        }
        (_, until) => Ok(Some(until.unwrap_or(tx.now))),
    }
}
