//! Subscriptions over WebSocket and as Server-Sent Events.

use std::time::Duration;

use kernel::{
    AccessLevel::{Guest, Reporter},
    Visibility::{Private, Public},
    ids::ProjectId,
};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    time::timeout,
};

use super::review::REFUSED;
use crate::support::{Person, Server, TestApp};

/// Longer than anything takes here.
const PATIENCE: Duration = Duration::from_secs(20);

/// A client that speaks `graphql-transport-ws`.
struct Socket {
    stream: TcpStream,
    heard: Vec<u8>,
}

/// What a server sends.
#[derive(Debug, PartialEq)]
enum Frame {
    Text(Value),
    Closed(u16, String),
}

impl Socket {
    async fn open(server: &Server, more: &str) -> Self {
        let mut socket = Self { stream: connect(server).await, heard: Vec::new() };
        let request = format!(
            "GET /api/graphql HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
             Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n{more}\r\n"
        );
        socket.stream.write_all(request.as_bytes()).await.expect("the request is sent");
        let head = socket.head().await;
        assert!(head.starts_with("HTTP/1.1 101"), "{head}");
        socket
    }

    /// A connection that is acknowledged, for somebody with a token in the payload.
    async fn of(server: &Server, person: &Person<'_>) -> Self {
        let mut socket = Self::greeted(server, person).await;
        assert_eq!(socket.next().await, Frame::Text(json!({ "type": "connection_ack" })));
        socket
    }

    /// As [`of`](Self::of), before it is acknowledged.
    async fn greeted(server: &Server, person: &Person<'_>) -> Self {
        let mut socket = Self::open(server, PROTOCOL).await;
        let token = person.token.as_ref().map_or("", |token| token.reveal());
        let payload = match token {
            "" => json!({}),
            token => json!({ "Authorization": format!("Bearer {token}") }),
        };
        socket.say(&json!({ "type": "connection_init", "payload": payload })).await;
        socket
    }

    async fn head(&mut self) -> String {
        loop {
            if let Some(end) = self.heard.windows(4).position(|bytes| bytes == b"\r\n\r\n") {
                let head = self.heard.drain(..end + 4).collect();
                return String::from_utf8(head).expect("a head is text");
            }
            self.more().await;
        }
    }

    async fn more(&mut self) {
        let mut block = [0; 4096];
        let read = timeout(PATIENCE, self.stream.read(&mut block)).await.expect("something comes");
        let read = read.expect("the connection holds");
        assert!(read > 0, "the connection ended");
        self.heard.extend_from_slice(&block[..read]);
    }

    /// Sends a text, masked with zeros.
    async fn say(&mut self, message: &Value) {
        self.say_text(&message.to_string()).await;
    }

    async fn say_text(&mut self, text: &str) {
        let length = u16::try_from(text.len()).expect("a short text");
        let mut frame = vec![0x81];
        match u8::try_from(length) {
            Ok(short) if short < 126 => frame.push(0x80 | short),
            _ => {
                frame.push(0x80 | 126);
                frame.extend_from_slice(&length.to_be_bytes());
            }
        }
        frame.extend_from_slice(&[0; 4]);
        frame.extend_from_slice(text.as_bytes());
        self.stream.write_all(&frame).await.expect("the message is sent");
    }

    /// The next text, or the end. Pings are left out.
    async fn next(&mut self) -> Frame {
        loop {
            while self.heard.len() < 2 {
                self.more().await;
            }
            let (kind, short) = (self.heard[0] & 0x0f, usize::from(self.heard[1] & 0x7f));
            let (start, length) = match short {
                126 => {
                    while self.heard.len() < 4 {
                        self.more().await;
                    }
                    (4, usize::from(u16::from_be_bytes([self.heard[2], self.heard[3]])))
                }
                short => (2, short),
            };
            while self.heard.len() < start + length {
                self.more().await;
            }
            let frame: Vec<u8> = self.heard.drain(..start + length).collect();
            let content = &frame[start..];
            match kind {
                1 => return Frame::Text(serde_json::from_slice(content).expect("JSON")),
                8 => {
                    let code = u16::from_be_bytes([content[0], content[1]]);
                    return Frame::Closed(
                        code,
                        String::from_utf8_lossy(&content[2..]).into_owned(),
                    );
                }
                _ => {}
            }
        }
    }

    async fn subscribe(&mut self, id: &str, query: &str) {
        let payload = json!({ "query": query });
        self.say(&json!({ "id": id, "type": "subscribe", "payload": payload })).await;
    }

    /// Waits until all that was said before was dealt with.
    async fn wait_until_idle(&mut self) {
        self.say(&json!({ "type": "ping", "payload": { "n": 1 } })).await;
        let pong = Frame::Text(json!({ "type": "pong", "payload": { "n": 1 } }));
        assert_eq!(self.next().await, pong);
    }

    /// What an event was answered with.
    async fn told(&mut self, id: &str) -> Value {
        match self.next().await {
            Frame::Text(message) if message["type"] == "next" && message["id"] == id => {
                message["payload"].clone()
            }
            other => panic!("no answer to {id}: {other:?}"),
        }
    }

    /// Says that the connection ends: the code 1000, under a mask of zeros.
    async fn say_end(&mut self) {
        let frame = [0x88, 0x82, 0, 0, 0, 0, 0x03, 0xe8];
        self.stream.write_all(&frame).await.expect("a connection");
    }

    /// Waits for the server to close the connection, not as long as it waits for clients that say nothing.
    async fn hung_up(&mut self) {
        let mut rest = [0; 16];
        let heard = timeout(Duration::from_secs(4), self.stream.read(&mut rest)).await;
        assert!(matches!(heard, Ok(Ok(0))), "{heard:?}");
    }

    async fn closed(&mut self) -> u16 {
        match self.next().await {
            Frame::Closed(code, _) => code,
            other => panic!("the connection goes on: {other:?}"),
        }
    }
}

const PROTOCOL: &str = "Sec-WebSocket-Protocol: graphql-transport-ws\r\n";

async fn connect(server: &Server) -> TcpStream {
    TcpStream::connect(&server.address).await.expect("a server")
}

/// An issue of `ada`'s project, and its global id.
async fn issue(person: &Person<'_>, project: ProjectId) -> (String, String) {
    let new = json!({ "title": "First" });
    let made = person.post(&format!("/projects/{project}/issues"), new).await.created();
    let path = format!("/projects/{project}/issues/{}", made["iid"]);
    (path, format!("gid://gitlab/Issue/{}", made["id"]))
}

fn titles(id: &str) -> String {
    format!(
        r#"subscription {{ issuableTitleUpdated(issuableId: "{id}") {{ ... on Issue {{ id title }} }} }}"#
    )
}

async fn rename(person: &Person<'_>, path: &str, title: &str) {
    person.put(path, json!({ "title": title })).await.ok();
}

#[actix_web::test]
async fn a_change_is_told_to_whoever_subscribed_to_it() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Private);
    let (path, id) = issue(&ada, project).await;
    let server = app.serve();
    let mut socket = Socket::of(&server, &ada).await;
    socket.subscribe("a", &titles(&id)).await;
    socket.wait_until_idle().await;
    ada.put(&path, json!({ "weight": 5 })).await.ok();
    rename(&ada, &path, "Second").await;
    let told = socket.told("a").await;
    assert_eq!(told["data"]["issuableTitleUpdated"], json!({ "id": id, "title": "Second" }));

    socket.say(&json!({ "id": "a", "type": "complete" })).await;
    socket.wait_until_idle().await;
    rename(&ada, &path, "Third").await;
    socket.subscribe("b", &titles(&id)).await;
    socket.wait_until_idle().await;
    rename(&ada, &path, "Fourth").await;
    let told = socket.told("b").await;
    assert!(told["data"]["issuableTitleUpdated"]["title"].is_string(), "{told}");
}

#[actix_web::test]
async fn each_kind_of_change_has_its_subscription() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Private);
    let (path, id) = issue(&ada, project).await;
    let server = app.serve();
    let mut socket = Socket::of(&server, &ada).await;
    let user = app.user("ada").id.0;
    for (name, change) in [
        ("issuableDescriptionUpdated", json!({ "description": "x" })),
        ("issuableAssigneesUpdated", json!({ "assignee_ids": [user] })),
        ("issuableLabelsUpdated", json!({ "labels": "red" })),
        ("issuableDatesUpdated", json!({ "due_date": "2030-01-01" })),
        ("issuableWeightUpdated", json!({ "weight": 3 })),
        ("issuableHealthStatusUpdated", json!({ "health_status": "at_risk" })),
    ] {
        let query =
            format!(r#"subscription {{ {name}(issuableId: "{id}") {{ ... on Issue {{ id }} }} }}"#);
        socket.subscribe(name, &query).await;
        socket.wait_until_idle().await;
        if name == "issuableHealthStatusUpdated" {
            let input = r#"mutation { updateIssue(input: {
                projectPath: "ada/forge", iid: "1", healthStatus: atRisk }) { errors } }"#;
            ada.post("//api/graphql", json!({ "query": input })).await.ok();
        } else {
            ada.put(&path, change).await.ok();
        }
        assert_eq!(socket.told(name).await["data"][name]["id"], id.as_str(), "{name}");
        socket.say(&json!({ "id": name, "type": "complete" })).await;
    }
}

#[actix_web::test]
async fn notes_are_told_when_they_are_written_changed_and_gone() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Private);
    let (path, id) = issue(&ada, project).await;
    let server = app.serve();
    let mut socket = Socket::of(&server, &ada).await;
    for (name, fields) in [
        ("workItemNoteCreated", "id body"),
        ("workItemNoteUpdated", "id body"),
        ("workItemNoteDeleted", "id"),
    ] {
        let query = format!(r#"subscription {{ {name}(noteableId: "{id}") {{ {fields} }} }}"#);
        socket.subscribe(name, &query).await;
    }
    socket.wait_until_idle().await;
    let made = ada.post(&format!("{path}/notes"), json!({ "body": "hi" })).await.created();
    let note = format!("gid://gitlab/Note/{}", made["id"]);
    let told = socket.told("workItemNoteCreated").await["data"]["workItemNoteCreated"].clone();
    assert_eq!(told, json!({ "id": note, "body": "hi" }));
    let one = format!("{path}/notes/{}", made["id"]);
    ada.put(&one, json!({ "body": "ho" })).await.ok();
    let told = socket.told("workItemNoteUpdated").await["data"]["workItemNoteUpdated"].clone();
    assert_eq!(told["body"], "ho");
    ada.delete(&one).await.with(204);
    let told = socket.told("workItemNoteDeleted").await["data"]["workItemNoteDeleted"].clone();
    assert_eq!(told, json!({ "id": note }));
}

#[actix_web::test]
async fn whoever_may_not_see_something_cannot_subscribe_to_it() {
    let app = TestApp::new();
    let (ada, eve) = (app.person("ada"), app.person("eve"));
    let project = app.project(&ada, "forge", Private);
    let (_, id) = issue(&ada, project).await;
    let server = app.serve();
    for person in [eve, app.anonymous()] {
        let mut socket = Socket::of(&server, &person).await;
        socket.subscribe("a", &titles(&id)).await;
        let told = socket.told("a").await;
        assert_eq!(told["errors"][0]["message"], REFUSED);
        assert_eq!(socket.next().await, Frame::Text(json!({ "id": "a", "type": "complete" })));
    }
}

#[actix_web::test]
async fn whoever_loses_access_is_told_nothing_more() {
    let app = TestApp::new();
    let (ada, eve) = (app.person("ada"), app.person("eve"));
    let project = app.project(&ada, "forge", Private);
    app.member(project, "eve", Reporter);
    let (path, id) = issue(&ada, project).await;
    let server = app.serve();
    let mut hers = Socket::of(&server, &ada).await;
    let mut theirs = Socket::of(&server, &eve).await;
    for socket in [&mut hers, &mut theirs] {
        socket.subscribe("a", &titles(&id)).await;
        socket.wait_until_idle().await;
    }
    rename(&ada, &path, "Second").await;
    theirs.told("a").await;
    hers.told("a").await;
    let member = format!("/projects/{project}/members/{}", app.user("eve").id);
    ada.delete(&member).await.with(204);
    rename(&ada, &path, "Third").await;
    hers.told("a").await;
    theirs.wait_until_idle().await;
}

#[actix_web::test]
async fn confidential_issues_are_told_to_those_who_may_read_them() {
    let app = TestApp::new();
    let (ada, eve) = (app.person("ada"), app.person("eve"));
    let project = app.project(&ada, "forge", Public);
    app.member(project, "eve", Guest);
    let (path, id) = issue(&ada, project).await;
    let server = app.serve();
    let mut socket = Socket::of(&server, &eve).await;
    socket.subscribe("a", &titles(&id)).await;
    socket.wait_until_idle().await;
    let mut hers = Socket::of(&server, &ada).await;
    hers.subscribe("a", &titles(&id)).await;
    hers.wait_until_idle().await;
    ada.put(&path, json!({ "confidential": true })).await.ok();
    rename(&ada, &path, "Secret").await;
    assert_eq!(hers.told("a").await["data"]["issuableTitleUpdated"]["title"], "Secret");
    socket.wait_until_idle().await;
}

#[actix_web::test]
async fn a_blocked_person_is_sent_away_with_the_next_event() {
    let app = TestApp::new();
    let (ada, eve) = (app.person("ada"), app.person("eve"));
    let project = app.project(&ada, "forge", Public);
    let (path, id) = issue(&ada, project).await;
    let server = app.serve();
    let mut socket = Socket::of(&server, &eve).await;
    socket.subscribe("a", &titles(&id)).await;
    socket.wait_until_idle().await;
    app.block("eve");
    rename(&ada, &path, "Second").await;
    assert_eq!(socket.closed().await, 4403);
}

#[actix_web::test]
async fn a_frame_that_is_too_long_is_refused_before_it_comes() {
    let app = TestApp::new();
    let server = app.serve();
    let tebibyte = [0x81, 0xff, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    let parted_ping = [0x09, 0x81, 0, 0, 0, 0, b'x'];
    for head in [&tebibyte[..], &parted_ping] {
        let mut socket = Socket::open(&server, PROTOCOL).await;
        socket.stream.write_all(head).await.expect("a connection");
        assert_eq!(socket.closed().await, 4400);
    }
}

#[actix_web::test]
async fn who_says_more_than_anybody_needs_to_say_is_cut_off() {
    let app = TestApp::new();
    let (ada, server) = (app.person("ada"), app.serve());
    let mut long = Socket::open(&server, PROTOCOL).await;
    long.say_text(&json!({ "type": "pong", "payload": "x".repeat(20_000) }).to_string()).await;
    assert_eq!(long.closed().await, 4400);

    let mut talker = Socket::of(&server, &ada).await;
    for _ in 0..20 {
        talker
            .say_text(&json!({ "type": "pong", "payload": "x".repeat(60_000) }).to_string())
            .await;
    }
    assert_eq!(talker.closed().await, 4429);
    let mut signs = Socket::of(&server, &ada).await;
    let pongs = [0x8a, 0x80, 0, 0, 0, 0].repeat(1_001);
    signs.stream.write_all(&pongs).await.expect("a connection");
    assert_eq!(signs.closed().await, 4429);
}

#[actix_web::test]
async fn what_breaks_the_protocol_ends_the_connection_with_its_code() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let server = app.serve();
    let mut early = Socket::open(&server, PROTOCOL).await;
    early.subscribe("a", "{ echo(text: \"x\") }").await;
    assert_eq!(early.closed().await, 4401);

    let mut twice = Socket::of(&server, &ada).await;
    twice.say(&json!({ "type": "connection_init" })).await;
    assert_eq!(twice.closed().await, 4429);

    for odd in ["", "[]", "{\"type\":\"x\"}", "{\"type\":\"subscribe\",\"id\":\"1\"}"] {
        let mut socket = Socket::of(&server, &ada).await;
        socket.say_text(odd).await;
        assert_eq!(socket.closed().await, 4400, "{odd}");
    }
    let mut none = Socket::open(&server, "").await;
    assert_eq!(none.closed().await, 4406);
    let mut stranger = Socket::open(&server, PROTOCOL).await;
    let payload = json!({ "Authorization": "Bearer nonsense" });
    stranger.say(&json!({ "type": "connection_init", "payload": payload })).await;
    assert_eq!(stranger.closed().await, 4403);
}

#[actix_web::test]
async fn an_end_in_order_is_answered_and_the_connection_closed() {
    let app = TestApp::new();
    let server = app.serve();
    let mut socket = Socket::of(&server, &app.person("ada")).await;
    socket.say_end().await;
    assert_eq!(socket.closed().await, 1000);
    socket.hung_up().await;
}

#[actix_web::test]
async fn the_server_closes_a_connection_whose_end_the_client_answers() {
    let app = TestApp::new();
    let server = app.serve();
    let mut early = Socket::open(&server, PROTOCOL).await;
    early.subscribe("a", "{ echo(text: \"x\") }").await;
    let mut none = Socket::open(&server, "").await;
    for (socket, code) in [(&mut early, 4401), (&mut none, 4406)] {
        assert_eq!(socket.closed().await, code);
        socket.say_end().await;
        socket.hung_up().await;
    }
}

#[actix_web::test]
async fn a_connection_counts_for_whoever_its_first_message_names() {
    let app = TestApp::new();
    let (ada, bob) = (app.person("ada"), app.person("bob"));
    let server = app.serve();
    let mut hers = Vec::new();
    for _ in 0..50 {
        hers.push(Socket::of(&server, &ada).await);
    }
    let mut surplus = Socket::greeted(&server, &ada).await;
    assert_eq!(surplus.closed().await, 4429);
    // All of them come from one address.
    Socket::of(&server, &bob).await.wait_until_idle().await;
    hers[0].wait_until_idle().await;
}

#[actix_web::test]
async fn who_is_blocked_gets_no_socket() {
    let app = TestApp::new();
    let eve = app.person("eve");
    app.block("eve");
    let upgrade = eve.sending("Connection", "Upgrade").sending("Upgrade", "websocket");
    let refused = json!({ "errors": [{ "message": "API not accessible for user" }] });
    upgrade.get("//api/graphql").await.refused(403, refused);
}

#[actix_web::test]
async fn an_id_is_used_for_one_subscription_at_a_time() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Public);
    let (_, id) = issue(&ada, project).await;
    let server = app.serve();
    let mut socket = Socket::of(&server, &ada).await;
    socket.subscribe("a", &titles(&id)).await;
    socket.subscribe("a", &titles(&id)).await;
    assert_eq!(socket.closed().await, 4409);
}

#[actix_web::test]
async fn queries_and_mutations_are_answered_over_the_socket_too() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let server = app.serve();
    let mut socket = Socket::of(&server, &ada).await;
    socket.subscribe("q", r#"{ echo(text: "hi") }"#).await;
    assert_eq!(socket.told("q").await, json!({ "data": { "echo": "\"ada\" says: hi" } }));
    assert_eq!(socket.next().await, Frame::Text(json!({ "id": "q", "type": "complete" })));
    socket.subscribe("m", r#"mutation { echoCreate(input: { messages: "x" }) { echoes } }"#).await;
    assert_eq!(socket.told("m").await["data"]["echoCreate"]["echoes"], json!(["\"ada\" says: x"]));
    assert_eq!(socket.next().await, Frame::Text(json!({ "id": "m", "type": "complete" })));
    socket.subscribe("e", "subscription { nothing }").await;
    let Frame::Text(refused) = socket.next().await else { panic!("no answer") };
    assert_eq!((&refused["type"], &refused["id"]), (&json!("error"), &json!("e")));
    assert_eq!(refused["payload"][0]["extensions"]["code"], "undefinedField");
}

/// A client that reads Server-Sent Events.
struct Events {
    socket: Socket,
}

impl Events {
    async fn of(server: &Server, person: &Person<'_>, query: &str) -> Self {
        let token = person.token.as_ref().map_or("", |token| token.reveal());
        let body = json!({ "query": query }).to_string();
        let request = format!(
            "POST /api/graphql HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\nPRIVATE-TOKEN: {token}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        let mut socket = Socket { stream: connect(server).await, heard: Vec::new() };
        socket.stream.write_all(request.as_bytes()).await.expect("the request is sent");
        let head = socket.head().await;
        assert!(head.starts_with("HTTP/1.1 200"), "{head}");
        assert!(head.contains("content-type: text/event-stream"), "{head}");
        Self { socket }
    }

    /// Reads until this was heard.
    async fn until(&mut self, text: &str) -> String {
        loop {
            let heard = String::from_utf8_lossy(&self.socket.heard).into_owned();
            if heard.contains(text) {
                return heard;
            }
            self.socket.more().await;
        }
    }
}

#[actix_web::test]
async fn a_subscription_is_a_stream_of_events() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Private);
    let (path, id) = issue(&ada, project).await;
    let server = app.serve();
    let mut events = Events::of(&server, &ada, &titles(&id)).await;
    events.until(":\n\n").await;
    rename(&ada, &path, "Second").await;
    let heard = events.until("\"Second\"").await;
    assert!(heard.contains("event: next\ndata: {\"data\":{\"issuableTitleUpdated\""), "{heard}");
}

#[actix_web::test]
async fn what_is_answered_once_is_one_event() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let server = app.serve();
    let mut events = Events::of(&server, &ada, r#"{ echo(text: "hi") }"#).await;
    let heard = events.until("event: complete\ndata: \n\n").await;
    assert!(heard.starts_with("event: next\ndata: {\"data\":{\"echo\":"), "{heard}");
    let mut events = Events::of(&server, &ada, "subscription { nothing }").await;
    let heard = events.until("event: complete").await;
    assert!(heard.contains("undefinedField"), "{heard}");
}

#[actix_web::test]
async fn a_request_that_is_refused_as_a_whole_is_no_event() {
    let app = TestApp::new();
    let reader = app.anonymous().sending("Accept", "text/event-stream");
    let change = "mutation{echoCreate(input:{messages:[\"a\"]}){echoes}}";
    let change = change.replace('"', "%22").replace('{', "%7B").replace('}', "%7D");
    let answer = reader.get(&format!("//api/graphql?query={change}")).await;
    assert_eq!(answer.status, 422);
    let plain = app.anonymous().sending("Accept", "text/event-stream;q=0, application/json");
    let answer = plain.get("//api/graphql?query=%7B__typename%7D").await.ok();
    assert_eq!(answer, json!({ "data": { "__typename": "Query" } }));
}

#[actix_web::test]
async fn without_a_stream_a_subscription_is_refused() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Private);
    let (_, id) = issue(&ada, project).await;
    let answer = ada.post("//api/graphql", json!({ "query": titles(&id) })).await.ok();
    let message = answer["errors"][0]["message"].as_str().expect("a message");
    assert!(message.contains("text/event-stream"), "{message}");
}

#[actix_web::test]
async fn what_another_server_writes_is_told_as_well() {
    let app = TestApp::new();
    let ada = app.person("ada");
    let project = app.project(&ada, "forge", Private);
    let (_, id) = issue(&ada, project).await;
    let server = app.serve();
    let mut socket = Socket::of(&server, &ada).await;
    socket.subscribe("a", &titles(&id)).await;
    socket.wait_until_idle().await;
    let other = TestApp::beside(app.location(), Some(&app), |_| {});
    let there = Person { app: &other, ..ada.clone() };
    rename(&there, &format!("/projects/{project}/issues/1"), "Second").await;
    assert_eq!(socket.told("a").await["data"]["issuableTitleUpdated"]["title"], "Second");
}
