//! Carries a pack between a client and git: one task per request, which lives exactly as long as git's child.

use std::{io, time::Duration};

use bytes::Bytes;
use futures_util::{StreamExt, stream};
use repo::git::{
    GitError,
    cli::Running,
    service::{self, Limits, Protocol, Service},
};
use tokio::{
    sync::{OwnedSemaphorePermit, mpsc},
    time::timeout,
};

use super::{Chunks, Refusal, permit::Place, pushes};
use crate::{
    app::App,
    identity::{Identity, Purpose},
};

/// How long a request waits for its turn.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);
/// From the first byte of a clone or push to its last.
pub(crate) const LONGEST: Duration = Duration::from_secs(4 * 3600);
/// A client that neither sends nor takes anything for so long has gone.
const IDLE: Duration = Duration::from_secs(120);
/// What a client has and wants; packs never come this way.
const LONGEST_WISH: u64 = 64 << 20;
/// Chunks that wait for a slow client.
const WAITING: usize = 4;

pub(super) fn longest_request(app: &App, service: Service) -> u64 {
    match (service, app.limits.push) {
        (Service::UploadPack, _) => LONGEST_WISH,
        (Service::ReceivePack, 0) => u64::MAX,
        // Git itself refuses a pack that is too large, and says so; this ends those who go on sending.
        (Service::ReceivePack, limit) => limit.saturating_mul(2).saturating_add(1 << 20),
    }
}

fn limits(app: &App) -> Limits {
    Limits { input: app.limits.push, time: LONGEST, idle: IDLE }
}

async fn in_time<T>(work: impl Future<Output = Result<T, GitError>>) -> Result<T, Refusal> {
    match timeout(PATIENCE, work).await {
        Ok(done) => Ok(done?),
        Err(_) => Err(Refusal::Busy),
    }
}

/// Serves a clone or fetch.
pub(super) async fn upload(
    app: &App,
    place: &Place,
    protocol: Option<Protocol>,
    body: Chunks,
) -> Result<Chunks, Refusal> {
    let queued = app.transport.place(place.kind).await?;
    let running =
        in_time(service::upload(&app.git, &place.path, protocol.as_ref(), limits(app))).await?;
    let (sender, receiver) = mpsc::channel(WAITING);
    actix_web::rt::spawn(carry(running, body, sender, queued));
    Ok(stream_of(receiver))
}

/// Takes a push.
pub(super) async fn receive(
    app: &App,
    place: &Place,
    protocol: Option<Protocol>,
    body: Chunks,
) -> Result<Chunks, Refusal> {
    let user = place.who.actor.user()?;
    let queued = app.transport.place(place.kind).await?;
    let hooks = app.transport.hooks()?;
    let id = app.transport.pushes.open(place.kind, user, place.who.actor);
    let project = place.kind.project();
    let identity = Identity { user, project, purpose: Purpose::Hook, push: Some(id.clone()) };
    let identity = app.identity.sign(identity, app.db.clock().now())?;
    let hooks = hooks.for_push(identity);
    let started = service::receive(&app.git, &place.path, protocol.as_ref(), limits(app), &hooks);
    let running = match in_time(started).await {
        Ok(running) => running,
        Err(refusal) => {
            pushes::close(app, &id).await;
            return Err(refusal);
        }
    };
    let (sender, receiver) = mpsc::channel(WAITING);
    let app = app.clone();
    actix_web::rt::spawn(async move {
        carry(running, body, sender, queued).await;
        pushes::close(&app, &id).await;
    });
    Ok(stream_of(receiver))
}

async fn carry(
    running: Running,
    body: Chunks,
    sender: mpsc::Sender<io::Result<Bytes>>,
    _queued: OwnedSemaphorePermit,
) {
    match service::exchange(running, body, sender, IDLE).await {
        Ok(()) => {}
        Err(GitError::Io(error)) => tracing::debug!(%error, "a git client has left"),
        Err(error) => tracing::info!(%error, "a clone or push has failed"),
    }
}

fn stream_of(mut receiver: mpsc::Receiver<io::Result<Bytes>>) -> Chunks {
    stream::poll_fn(move |context| receiver.poll_recv(context)).boxed_local()
}
