//! WebSocket, as `graphql-transport-ws` speaks it.

use std::{collections::HashMap, sync::Arc, time::Duration};

use actix_web::{
    FromRequest as _, HttpRequest, HttpResponse, body::BoxBody, dev::Payload, http::header, web,
};
use actix_ws::{AggregatedMessage, AggregatedMessageStream, Session};
use graphql::{Operation, Request, Schema, Subscription};
use resolvers::{Context, subscriptions::fact::Fact};
use serde_json::{Map, Value};
use tokio::{
    sync::{
        broadcast::{self, error::RecvError},
        oneshot, watch,
    },
    time::{Instant, sleep_until, timeout},
};

use super::{
    PATIENCE,
    closing::{CloseCause, SocketBody, close},
    connection::{Connection, refusal},
    connection_slot::ConnectionSlot,
    frame_guard::FrameGuard,
    message::{self, ClientMessage},
    outbox::Outbox,
};
use crate::{
    app::App,
    error::{ApiError, ApiResult},
    extract::{RawMap, raw_pairs},
    graphql::answers::{graphql_error, refused},
    hang_up::HangUp,
    route::MatchedRoute,
};

const PROTOCOL: &str = "graphql-transport-ws";
/// So long a client may take until it says who it is.
const INIT: Duration = Duration::from_secs(10);
/// How often a client is asked whether it is still there.
const HEARTBEAT: Duration = Duration::from_secs(25);
/// A client that says nothing for so long is gone.
const SILENCE: Duration = Duration::from_secs(80);
/// The longest message, in bytes: a query of 10,000 characters with its variables.
const LONGEST: usize = 256 << 10;
/// The longest message of whoever has not said who they are.
const LONGEST_BEFORE_INIT: usize = 16 << 10;
/// So much may be said in a while beside requests, a message without length for one and a KiB for one more: pings and their like
/// count for no rate.
const CHATTER: usize = 1_000;
const WHILE: Duration = Duration::from_secs(10);
/// So many subscriptions a connection may have.
const MOST: usize = 100;

/// Whether a request wants a WebSocket.
pub(in crate::graphql) fn is_upgrade(req: &HttpRequest) -> bool {
    let upgrade = req.headers().get(header::UPGRADE).and_then(|value| value.to_str().ok());
    upgrade.is_some_and(|upgrade| upgrade.eq_ignore_ascii_case("websocket"))
}

/// Begins a WebSocket.
pub(in crate::graphql) async fn answer(
    app: App,
    req: &HttpRequest,
    payload: Payload,
    route: MatchedRoute,
    schema: &'static Schema<Context>,
) -> HttpResponse {
    let given = raw_pairs(req.query_string().as_bytes());
    let connection = Connection::new(app, schema, req.clone(), route, given, false);
    let caller = match connection.caller().await {
        Ok(caller) => caller,
        Err(failure) => return refused(&failure),
    };
    if let Err(failure) = connection.count(&caller) {
        return graphql_error(&failure);
    }
    let place = match connection.place(connection.owner(&caller)) {
        Ok(place) => Arc::new(place),
        Err(full) => return graphql_error(&full.into()),
    };
    let mut payload = FrameGuard::guard(payload, LONGEST);
    let begun = match web::Payload::from_request(req, &mut payload).await {
        Ok(body) => actix_ws::handle_with_protocols(req, body, &[PROTOCOL]),
        Err(failure) => Err(failure),
    };
    let (response, session, messages) = match begun {
        Ok(begun) => begun,
        Err(failure) => return failure.error_response(),
    };
    let is_spoken = response.headers().contains_key(header::SEC_WEBSOCKET_PROTOCOL);
    let messages = messages.max_frame_size(LONGEST).aggregate_continuations();
    let mut messages = messages.max_continuation_size(LONGEST);
    let (over, is_over) = oneshot::channel();
    // The place is taken until the last of what was sent is gone.
    let held = Arc::clone(&place);
    let outbox = Outbox::default();
    let waiting = outbox.clone();
    kernel::task::spawn_local(async move {
        let (session, cause) = match is_spoken {
            true => Dialog::new(connection, session, outbox, place).run(&mut messages).await,
            false => (session, Some(CloseCause::new(4406, "Subprotocol not acceptable"))),
        };
        if let Some(cause) = cause
            && close(session, cause, &mut messages).await
        {
            // Where the connection is gone, nothing has to be closed.
            let _ = over.send(());
        }
    });
    let hang_up = req.conn_data::<HangUp>().cloned();
    response
        .map_body(|_, body| BoxBody::new(SocketBody::new(body, waiting, is_over, hang_up, held)))
}

/// The message exchange over one WebSocket.
struct Dialog {
    connection: Connection,
    session: Session,
    outbox: Outbox,
    place: Arc<ConnectionSlot>,
    is_acknowledged: bool,
    subscriptions: HashMap<String, Box<Subscription>>,
    /// The facts, since the first subscription.
    facts: Option<broadcast::Receiver<Arc<Fact>>>,
    end: watch::Receiver<bool>,
    heard_at: Instant,
    /// What was said beside requests since a moment.
    chatter: (Instant, usize),
}

/// The next event of a connection.
enum Step {
    Said(String),
    /// A sign of life.
    Alive,
    Gone,
    /// The client ends the connection in order.
    Closed,
    Fact(Arc<Fact>),
    /// Facts were missed.
    Behind,
    Late,
    Heartbeat,
    ServerEnds,
    /// A message that is none.
    Odd(CloseCause),
}

impl Dialog {
    fn new(
        connection: Connection,
        session: Session,
        outbox: Outbox,
        place: Arc<ConnectionSlot>,
    ) -> Self {
        let end = connection.app().subscribers.end();
        Self {
            connection,
            session,
            outbox,
            place,
            is_acknowledged: false,
            subscriptions: HashMap::new(),
            facts: None,
            end,
            heard_at: Instant::now(),
            chatter: (Instant::now(), 0),
        }
    }

    /// Why the connection ends; nothing where it is gone.
    async fn run(
        mut self,
        messages: &mut AggregatedMessageStream,
    ) -> (Session, Option<CloseCause>) {
        let late_at = Instant::now() + INIT;
        let mut heartbeat = tokio::time::interval(HEARTBEAT);
        loop {
            let step = self.step(messages, &mut heartbeat, late_at).await;
            if let Err(cause) = self.follow(step).await {
                return (self.session, cause);
            }
            // Messages that have come already are worked off without a wait, and others wait.
            tokio::task::yield_now().await;
        }
    }

    async fn step(
        &mut self,
        messages: &mut AggregatedMessageStream,
        heartbeat: &mut tokio::time::Interval,
        late_at: Instant,
    ) -> Step {
        let is_acknowledged = self.is_acknowledged;
        tokio::select! {
            message = messages.recv() => match message {
                Some(Ok(AggregatedMessage::Text(text))) => Step::Said(text.to_string()),
                Some(Ok(AggregatedMessage::Binary(_))) => {
                    Step::Odd(CloseCause::new(4400, "Messages are texts"))
                }
                Some(Ok(AggregatedMessage::Ping(payload))) => {
                    let answer = async {
                        self.outbox.add(frame(payload.len())).await;
                        self.session.pong(&payload).await
                    };
                    match timeout(PATIENCE, answer).await {
                        Ok(Ok(())) => Step::Alive,
                        Ok(Err(_)) | Err(_) => Step::Gone,
                    }
                }
                Some(Ok(AggregatedMessage::Pong(_))) => Step::Alive,
                Some(Ok(AggregatedMessage::Close(_))) => Step::Closed,
                None => Step::Gone,
                Some(Err(failure)) => Step::Odd(CloseCause::new(4400, failure.to_string())),
            },
            fact = next_fact(&mut self.facts) => match fact {
                Ok(fact) => Step::Fact(fact),
                Err(RecvError::Lagged(_) | RecvError::Closed) => Step::Behind,
            },
            _ = self.end.changed() => Step::ServerEnds,
            () = sleep_until(late_at), if !is_acknowledged => Step::Late,
            _ = heartbeat.tick() => Step::Heartbeat,
        }
    }

    /// # Errors
    /// With how the connection ends; nothing where it is gone.
    async fn follow(&mut self, step: Step) -> Result<(), Option<CloseCause>> {
        match step {
            Step::Said(text) => {
                self.heard_at = Instant::now();
                if !self.is_acknowledged && text.len() > LONGEST_BEFORE_INIT {
                    return Err(Some(CloseCause::new(4400, "The message is too long")));
                }
                let message = ClientMessage::parse(&text)
                    .map_err(|reason| Some(CloseCause::new(4400, reason)))?;
                if !matches!(message, ClientMessage::Subscribe { .. }) {
                    self.count_chatter(text.len())?;
                }
                self.hear(message).await
            }
            Step::Alive => {
                self.heard_at = Instant::now();
                self.count_chatter(0)
            }
            Step::Gone => Err(None),
            Step::Closed => Err(Some(CloseCause::answer())),
            Step::Fact(fact) => self.tell(&fact).await,
            Step::Behind => Err(Some(CloseCause::new(1013, "Too many events, subscribe again"))),
            Step::Late => Err(Some(CloseCause::new(4408, "Connection initialisation timeout"))),
            Step::Heartbeat if self.heard_at.elapsed() > SILENCE => Err(None),
            Step::Heartbeat => {
                if self.is_acknowledged {
                    let good = self.connection.ensure_credential().await;
                    good.map_err(|failure| Some(CloseCause::of(&failure)))?;
                }
                let sent = timeout(PATIENCE, self.session.ping(b"")).await;
                sent.map_err(|_late| None)?.map_err(|_closed| None)
            }
            Step::ServerEnds => Err(Some(CloseCause::new(1001, "The server stops"))),
            Step::Odd(closing) => Err(Some(closing)),
        }
    }

    /// # Errors
    /// Where more was said in a while than anybody needs to say.
    fn count_chatter(&mut self, bytes: usize) -> Result<(), Option<CloseCause>> {
        let (since, amount) = &mut self.chatter;
        if since.elapsed() > WHILE {
            (*since, *amount) = (Instant::now(), 0);
        }
        *amount += 1 + bytes / 1024;
        match *amount > CHATTER {
            true => Err(Some(CloseCause::new(4429, "Too many messages"))),
            false => Ok(()),
        }
    }

    async fn hear(&mut self, message: ClientMessage) -> Result<(), Option<CloseCause>> {
        match message {
            ClientMessage::Init(payload) => self.acknowledge(&payload).await,
            ClientMessage::Ping(payload) => self.send(message::pong(payload)).await,
            ClientMessage::Pong => Ok(()),
            ClientMessage::Subscribe { .. } if !self.is_acknowledged => {
                Err(Some(CloseCause::new(4401, "Unauthorized")))
            }
            ClientMessage::Subscribe { id, .. } if self.subscriptions.contains_key(&id) => {
                Err(Some(CloseCause::new(4409, format!("Subscriber for {id} already exists"))))
            }
            ClientMessage::Subscribe { id, request } => self.begin(id, request).await,
            ClientMessage::Complete { id } => {
                self.subscriptions.remove(&id);
                if self.subscriptions.is_empty() {
                    // Nobody reads facts for connections that wait for none.
                    self.facts = None;
                }
                Ok(())
            }
        }
    }

    async fn acknowledge(
        &mut self,
        payload: &Map<String, Value>,
    ) -> Result<(), Option<CloseCause>> {
        if self.is_acknowledged {
            return Err(Some(CloseCause::new(4429, "Too many initialisation requests")));
        }
        self.connection.show(credentials(payload));
        let caller = self.connection.caller().await;
        let caller = caller.map_err(|failure| Some(CloseCause::of(&failure)))?;
        self.connection.count(&caller).map_err(|failure| Some(CloseCause::of(&failure)))?;
        // The place was the address's, as long as nobody had said who they are.
        let passed = self.place.pass_to(self.connection.owner(&caller));
        passed.map_err(|_full| Some(CloseCause::new(4429, "Too many connections")))?;
        self.is_acknowledged = true;
        self.send(message::ack()).await
    }

    /// Answers a request, or begins a subscription.
    async fn begin(&mut self, id: String, request: Request) -> Result<(), Option<CloseCause>> {
        if self.subscriptions.len() >= MOST {
            let text = format!("A connection can have at most {MOST} subscriptions");
            let errors = serde_json::json!([{ "message": text }]);
            return self.send(message::error(&id, &errors)).await;
        }
        match self.counted(request).await {
            Ok(Operation::Subscription(subscription)) => {
                if self.facts.is_none() {
                    let app = self.connection.app();
                    let facts = app.subscribers.listen(&app.db).await;
                    let failed = |failure| Some(CloseCause::of(&ApiError::from(failure)));
                    self.facts = Some(facts.map_err(failed)?);
                }
                self.subscriptions.insert(id, subscription);
                Ok(())
            }
            Ok(Operation::Answer(answer)) if answer.body.get("data").is_some() => {
                self.send(message::next(&id, &answer.body)).await?;
                self.send(message::complete(&id)).await
            }
            Ok(Operation::Answer(answer)) => {
                self.send(message::error(&id, &answer.body["errors"])).await
            }
            Err(failure @ ApiError::Rate(..)) => {
                self.send(message::error(&id, &refusal(&failure).body["errors"])).await
            }
            Err(failure) => Err(Some(CloseCause::of(&failure))),
        }
    }

    /// Answers a request that counts for the caller's rate.
    async fn counted(&self, request: Request) -> ApiResult<Operation> {
        self.connection.count(&self.connection.caller().await?)?;
        self.connection.begin(request).await
    }

    async fn tell(&mut self, fact: &Arc<Fact>) -> Result<(), Option<CloseCause>> {
        let subscriptions = self.subscriptions.iter().map(|(id, one)| (id.as_str(), &**one));
        let (session, outbox) = (&mut self.session, &self.outbox);
        let sent = self.connection.tell(fact, subscriptions, async |id, answer| {
            send(session, outbox, message::next(id, &answer.body)).await
        });
        sent.await.map_err(|End(closing)| closing)
    }

    async fn send(&mut self, text: String) -> Result<(), Option<CloseCause>> {
        send(&mut self.session, &self.outbox, text).await.map_err(|End(closing)| closing)
    }
}

/// How a connection ends; nothing where it is gone.
struct End(Option<CloseCause>);

impl From<ApiError> for End {
    fn from(failure: ApiError) -> Self {
        Self(Some(CloseCause::of(&failure)))
    }
}

async fn send(session: &mut Session, outbox: &Outbox, text: String) -> Result<(), End> {
    let sent = async {
        outbox.add(frame(text.len())).await;
        session.text(text).await
    };
    match timeout(PATIENCE, sent).await {
        Ok(Ok(())) => Ok(()),
        // Gone, or as good as that.
        Ok(Err(_)) | Err(_) => Err(End(None)),
    }
}

/// The bytes that a message has as a frame of the server.
fn frame(bytes: usize) -> usize {
    bytes
        + match bytes {
            0..126 => 2,
            126..65_536 => 4,
            _ => 10,
        }
}

/// The next fact; never where nothing is subscribed to.
async fn next_fact(
    facts: &mut Option<broadcast::Receiver<Arc<Fact>>>,
) -> Result<Arc<Fact>, RecvError> {
    match facts {
        Some(facts) => facts.recv().await,
        None => std::future::pending().await,
    }
}

/// The token of a payload, whatever it calls it.
fn credentials(payload: &Map<String, Value>) -> RawMap {
    let mut found = RawMap::default();
    for (name, value) in payload {
        let Some(text) = value.as_str() else { continue };
        match name.to_ascii_lowercase().replace('-', "_").as_str() {
            "authorization" => {
                let (kind, token) = text.split_once(' ').unwrap_or(("", text));
                if kind.eq_ignore_ascii_case("bearer") {
                    found.set("access_token", token.trim().to_owned().into());
                }
            }
            "private_token" => found.set("private_token", text.to_owned().into()),
            "access_token" => found.set("access_token", text.to_owned().into()),
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value, json};

    use super::credentials;

    fn payload(given: &Value) -> Map<String, Value> {
        given.as_object().cloned().unwrap_or_default()
    }

    #[test]
    fn a_token_is_found_under_each_of_its_names() {
        for (given, name) in [
            (json!({ "Authorization": "Bearer abc" }), "access_token"),
            (json!({ "authorization": "bearer abc" }), "access_token"),
            (json!({ "PRIVATE-TOKEN": "abc" }), "private_token"),
            (json!({ "private_token": "abc" }), "private_token"),
            (json!({ "access_token": "abc", "other": 5 }), "access_token"),
        ] {
            assert_eq!(credentials(&payload(&given)).text(name), Some("abc"), "{given}");
        }
        let none = credentials(&payload(&json!({ "Authorization": "Basic abc" })));
        assert!(none.text("access_token").is_none() && none.text("private_token").is_none());
    }
}
