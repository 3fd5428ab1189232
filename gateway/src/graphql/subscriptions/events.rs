//! Server-Sent Events: one request, answered as often as there is something to tell ("distinct connections" of
//! graphql-sse).

use std::{
    sync::Arc,
    task::{Poll, ready},
    time::Duration,
};

use actix_web::{HttpRequest, HttpResponse, http::header, web::Bytes};
use futures_util::stream::poll_fn;
use graphql::{Operation, Outcome, Request, Response, Schema, Subscription};
use resolvers::{Context, subscriptions::fact::Fact};
use serde_json::json;
use tokio::sync::{
    broadcast::{self, error::RecvError},
    mpsc, watch,
};

use super::{
    PATIENCE,
    connection::{Connection, refusal},
    connection_slot::ConnectionSlot,
    outbox::{Outbox, SentBytes},
};
use crate::{
    app::App,
    error::ApiError,
    extract::RawMap,
    graphql::answers::{graphql_error, refused, respond},
    route::MatchedRoute,
};

/// How often something is sent where nothing happens, so that nobody in between takes the connection for dead.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// So many answers wait for a client that reads slowly.
const WAITING: usize = 16;

/// Whether a request wants events instead of one answer.
pub(in crate::graphql) fn wants(req: &HttpRequest) -> bool {
    let accepted = req.headers().get(header::ACCEPT).and_then(|value| value.to_str().ok());
    accepted.is_some_and(|accepted| accepted.split(',').any(names_events))
}

/// Whether a media range of `Accept` names events, and does not refuse them by `q=0`.
fn names_events(range: &str) -> bool {
    let mut parts = range.split(';').map(|part| part.trim().to_ascii_lowercase());
    let is_named = parts.next().is_some_and(|name| name == "text/event-stream");
    let mut refuses = parts.filter_map(|part| part.strip_prefix("q=")?.trim().parse::<f32>().ok());
    is_named && !refuses.any(|quality| quality <= 0.0)
}

/// Answers a request as events. What is answered once is one event.
pub(in crate::graphql) async fn answer(
    app: App,
    req: HttpRequest,
    route: MatchedRoute,
    given: RawMap,
    request: Request,
    schema: &'static Schema<Context>,
) -> HttpResponse {
    let is_safe = req.method().is_safe();
    let connection = Connection::new(app, schema, req, route, given, is_safe);
    let caller = match connection.caller().await {
        Ok(caller) => caller,
        Err(failure) => return refused(&failure),
    };
    let place = match connection.place(connection.owner(&caller)) {
        Ok(place) => place,
        Err(full) => return graphql_error(&full.into()),
    };
    match connection.begin(request).await {
        Err(failure) => refused(&failure),
        // What the request as a whole is refused with has a status of its own.
        Ok(Operation::Answer(answer)) if answer.outcome != Outcome::Answered => respond(&answer),
        Ok(Operation::Answer(answer)) => stream_head().body([next(&answer), complete()].concat()),
        Ok(Operation::Subscription(subscription)) => {
            let app = connection.app().clone();
            match app.subscribers.listen(&app.db).await {
                Ok(facts) => follow(connection, place, subscription, facts),
                Err(failure) => graphql_error(&failure.into()),
            }
        }
    }
}

fn stream_head() -> actix_web::HttpResponseBuilder {
    let mut head = HttpResponse::Ok();
    head.content_type("text/event-stream; charset=utf-8")
        .insert_header((header::CACHE_CONTROL, "no-cache"))
        .insert_header(("x-accel-buffering", "no"));
    head
}

fn next(answer: &Response) -> String {
    format!("event: next\ndata: {}\n\n", answer.body)
}

fn complete() -> String {
    "event: complete\ndata: \n\n".to_owned()
}

/// Sends an answer for each fact until one of both sides ends it.
fn follow(
    connection: Connection,
    place: ConnectionSlot,
    subscription: Box<Subscription>,
    facts: broadcast::Receiver<Arc<Fact>>,
) -> HttpResponse {
    let (sender, mut receiver) = mpsc::channel::<Bytes>(WAITING);
    let end = connection.app().subscribers.end();
    let outbox = Outbox::default();
    let mut taken = SentBytes::new(outbox.clone());
    let feed = Feed { connection, subscription, facts, end, sender, outbox };
    kernel::task::spawn_local(feed.run());
    let body = poll_fn(move |task| {
        // The place is taken until the last of what was sent is gone.
        let _place = &place;
        taken.ask();
        let piece = ready!(receiver.poll_recv(task));
        taken.hand_out(piece.as_ref().map_or(0, Bytes::len));
        Poll::Ready(piece.map(Ok::<_, actix_web::Error>))
    });
    stream_head().streaming(body)
}

/// Reasons for which a connection ends.
enum End {
    /// Nobody hears any more.
    Gone,
    Refused(ApiError),
}

impl From<ApiError> for End {
    fn from(failure: ApiError) -> Self {
        Self::Refused(failure)
    }
}

/// One subscription of one connection.
struct Feed {
    connection: Connection,
    subscription: Box<Subscription>,
    facts: broadcast::Receiver<Arc<Fact>>,
    end: watch::Receiver<bool>,
    sender: mpsc::Sender<Bytes>,
    outbox: Outbox,
}

impl Feed {
    async fn run(mut self) {
        let mut heartbeat = tokio::time::interval(HEARTBEAT);
        loop {
            let sent = tokio::select! {
                () = self.sender.closed() => return,
                _ = self.end.changed() => return,
                _ = heartbeat.tick() => self.beat().await,
                fact = self.facts.recv() => match fact {
                    Ok(fact) => self.tell(&fact).await,
                    // Too much was missed, or nothing comes any more: the client begins again.
                    Err(RecvError::Lagged(_) | RecvError::Closed) => return,
                },
            };
            if sent.is_none() {
                return;
            }
        }
    }

    /// Says that the connection is still there, as long as its credential is good; nothing where it is to end.
    async fn beat(&self) -> Option<()> {
        match self.connection.ensure_credential().await {
            Ok(()) => self.send(":\n\n".to_owned()).await,
            Err(failure) => self.refuse(&failure).await,
        }
    }

    async fn refuse(&self, failure: &ApiError) -> Option<()> {
        let text = json!({ "errors": refusal(failure).body["errors"] });
        self.send(format!("event: next\ndata: {text}\n\n")).await?;
        self.send(complete()).await?;
        None
    }

    /// Nothing where the connection is to end.
    async fn tell(&self, fact: &Arc<Fact>) -> Option<()> {
        let one = std::iter::once(("", &*self.subscription));
        let told = self
            .connection
            .tell(fact, one, async |_, answer| self.send(next(&answer)).await.ok_or(End::Gone));
        match told.await {
            Ok(()) => Some(()),
            Err(End::Gone) => None,
            Err(End::Refused(failure)) => self.refuse(&failure).await,
        }
    }

    async fn send(&self, text: String) -> Option<()> {
        let sent = tokio::time::timeout(PATIENCE, async {
            self.outbox.add(text.len()).await;
            self.sender.send(text.into()).await
        });
        sent.await.ok()?.ok()
    }
}

#[cfg(test)]
mod tests {
    use super::names_events;

    #[test]
    fn events_are_wanted_where_their_media_type_is_accepted() {
        for range in
            ["text/event-stream", " TEXT/Event-Stream ;q=0.5", "text/event-stream;charset=x"]
        {
            assert!(names_events(range), "{range}");
        }
        for range in ["text/event-stream;q=0", "text/event-stream-x", "*/*", ""] {
            assert!(!names_events(range), "{range}");
        }
    }
}
