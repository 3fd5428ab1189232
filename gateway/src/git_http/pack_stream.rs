//! Carries a pack between a client and git: one task per request, which lives exactly as long as git's child.

use std::{io, time::Duration};

use bytes::Bytes;
use forge::{
    project::push_to_create::remove_if_empty,
    signed_statements::{Identity, LONGEST_EXCHANGE, Purpose},
};
use futures_util::{StreamExt, stream};
use kernel::{ids::ProjectId, task::spawn_local};
use repo::git::{
    GitError, RepoPath,
    cli::GitProcess,
    push_head::{HeadReader, PushHead},
    service::{self, Limits, Protocol, Service},
};
use tokio::{
    sync::{OwnedSemaphorePermit, mpsc},
    time::timeout,
};

use super::{
    Refusal, authorize::AuthorizedRepository, body::Chunks, kind::Kind, transport::PATIENCE,
};
use crate::app::App;

/// A client that neither sends nor takes anything for so long has gone.
const IDLE: Duration = Duration::from_secs(120);
/// What a client has and wants; packs never come this way.
const LONGEST_WISH: u64 = 64 << 20;
/// Chunks that wait for a slow client.
const WAITING: usize = 4;

pub(super) fn longest_request(app: &App, service: Service) -> u64 {
    match (service, push_limit(app)) {
        (Service::UploadPack, _) => LONGEST_WISH,
        (Service::ReceivePack, 0) => u64::MAX,
        // Git itself refuses a pack that is too large, and says so; this ends those who go on sending.
        (Service::ReceivePack, limit) => limit.saturating_mul(2).saturating_add(1 << 20),
    }
}

/// Bytes of one push, by the configuration of the server and by the settings; 0 is no limit.
pub(super) fn push_limit(app: &App) -> u64 {
    let set =
        app.settings().receive_max_input_size().and_then(|mebibytes| u64::try_from(mebibytes).ok());
    match (app.limits.push, set.map(|mebibytes| mebibytes << 20)) {
        (configured, None) => configured,
        (0, Some(set)) => set,
        (configured, Some(set)) => configured.min(set),
    }
}

fn limits(app: &App) -> Limits {
    Limits { input: push_limit(app), time: LONGEST_EXCHANGE, idle: IDLE }
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
    place: &AuthorizedRepository,
    protocol: Option<Protocol>,
    body: Chunks,
) -> Result<Chunks, Refusal> {
    let queued = app.transport.place(place.kind).await?;
    let running =
        in_time(service::upload(&app.git, &place.path, protocol.as_ref(), limits(app))).await?;
    let (sender, receiver) = mpsc::channel(WAITING);
    spawn_local(carry(running, body, sender, queued));
    Ok(stream_of(receiver))
}

/// Sends a node what it lacks of the whole repository.
pub(super) async fn upload_all(
    app: &App,
    (kind, path): (Kind, &RepoPath),
    protocol: Option<Protocol>,
    body: Chunks,
) -> Result<Chunks, Refusal> {
    let queued = app.transport.place(kind).await?;
    let running = service::upload_all(&app.git, path, protocol.as_ref(), limits(app));
    let running = in_time(running).await?;
    let (sender, receiver) = mpsc::channel(WAITING);
    spawn_local(carry(running, body, sender, queued));
    Ok(stream_of(receiver))
}

/// What a push begins with, and all of it as git reads it.
pub(super) async fn split_head(body: Chunks) -> Result<(PushHead, Chunks), Refusal> {
    // A push that only deletes ends with its head, and is asked for more all the same.
    let mut body = body.fuse();
    let (mut reader, mut begun) = (HeadReader::default(), Vec::new());
    loop {
        let chunk = match timeout(IDLE, body.next()).await {
            Ok(Some(chunk)) => chunk,
            // Git itself says what is wrong with a head that breaks off.
            Ok(None) => break,
            Err(_) => return Err(Refusal::Busy),
        };
        let is_whole = match &chunk {
            Ok(bytes) => reader.push(bytes).map_err(|_long| Refusal::TooManyRefs)?,
            Err(_) => true,
        };
        begun.push(chunk);
        if is_whole {
            break;
        }
    }
    Ok((reader.into_head(), stream::iter(begun).chain(body).boxed_local()))
}

/// Takes a push. A project that was made for it goes again when it brings nothing.
pub(super) async fn receive(
    app: &App,
    place: &AuthorizedRepository,
    protocol: Option<Protocol>,
    (head, body): (PushHead, Chunks),
) -> Result<Chunks, Refusal> {
    let user = place.who.actor.user()?;
    let queued = app.transport.place(place.kind).await?;
    let (hooks, brings_objects) = (app.transport.hooks()?, head.brings_objects);
    let id = app.transport.pushes.open(place.kind, user, place.who.actor, head);
    let project = place.kind.project();
    let identity = Identity { user, project, purpose: Purpose::Hook, push: Some(id.clone()) };
    let identity = app.identity.sign(identity, app.db.clock().now())?;
    let hooks = hooks.for_push(identity, brings_objects);
    let started = service::receive(&app.git, &place.path, protocol.as_ref(), limits(app), &hooks);
    let running = match in_time(started).await {
        Ok(running) => running,
        Err(refusal) => {
            end(app, &id, place.made).await;
            return Err(refusal);
        }
    };
    let (sender, receiver) = mpsc::channel(WAITING);
    let (app, made) = (app.clone(), place.made);
    spawn_local(async move {
        // The client hears the end when it is one.
        let open = sender.clone();
        carry(running, body, sender, queued).await;
        end(&app, &id, made).await;
        drop(open);
    });
    Ok(stream_of(receiver))
}

async fn end(app: &App, push: &str, made: Option<ProjectId>) {
    let brought_something = app.transport.pushes.close(push).await;
    if let Some(project) = made.filter(|_| !brought_something)
        && let Err(cause) = remove_if_empty(app, project).await
    {
        tracing::warn!(%project, error = %cause, "a project without any push stays");
    }
}

/// Answers a push that names nothing a project could be made for: git refuses each of its refs.
pub(super) async fn turn_down(
    app: &App,
    nothing: &RepoPath,
    protocol: Option<Protocol>,
    body: Chunks,
) -> Result<Chunks, Refusal> {
    let started = service::turn_down(&app.git, nothing, protocol.as_ref(), limits(app));
    let running = in_time(started).await?;
    let (sender, receiver) = mpsc::channel(WAITING);
    spawn_local(async move {
        ended(service::exchange(running, body, sender, IDLE).await);
    });
    Ok(stream_of(receiver))
}

async fn carry(
    running: GitProcess,
    body: Chunks,
    sender: mpsc::Sender<io::Result<Bytes>>,
    _queued: OwnedSemaphorePermit,
) {
    ended(service::exchange(running, body, sender, IDLE).await);
}

fn ended(exchange: Result<(), GitError>) {
    match exchange {
        Ok(()) => {}
        Err(GitError::Io(error)) => tracing::debug!(%error, "a git client has left"),
        Err(error) => tracing::info!(%error, "a clone or push has failed"),
    }
}

fn stream_of(mut receiver: mpsc::Receiver<io::Result<Bytes>>) -> Chunks {
    stream::poll_fn(move |context| receiver.poll_recv(context)).boxed_local()
}
