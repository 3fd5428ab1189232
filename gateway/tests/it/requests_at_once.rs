//! Requests that a client sends over one connection without a wait for answers: `gateway/src/request_queue.rs`.

use serde_json::Value;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use crate::support::{Person, Server, TestApp};

/// Only the projects that a test makes.
const LIST: &str = "GET /projects?owned=true";
const LAST: &str = "Connection: close\r\n";

/// A request of the API up to the end of its head.
fn head(person: &Person<'_>, line: &str, more: &str) -> String {
    let token = person.token.as_ref().map_or("", |token| token.reveal());
    let (method, path) = line.split_once(' ').expect("a method and a path");
    format!("{method} /api/v4{path} HTTP/1.1\r\nHost: x\r\nPRIVATE-TOKEN: {token}\r\n{more}\r\n")
}

async fn connect(server: &Server, sent: &str) -> TcpStream {
    let mut client = TcpStream::connect(&server.address).await.expect("a server");
    client.write_all(sent.as_bytes()).await.expect("all of it");
    client
}

/// What the server says until it closes the connection.
async fn heard(mut client: TcpStream) -> String {
    let mut heard = String::new();
    client.read_to_string(&mut heard).await.expect("answers, and an end");
    heard
}

fn status_lines(heard: &str) -> Vec<&str> {
    heard.match_indices("HTTP/1.1 ").map(|(at, _)| &heard[at + 9..at + 12]).collect()
}

#[actix_web::test]
async fn only_the_answer_to_head_has_no_body() {
    let app = TestApp::new();
    let (server, ada) = (app.serve(), app.person("ada"));

    let asked = head(&ada, &LIST.replace("GET", "HEAD"), "") + &head(&ada, LIST, LAST);
    let first = heard(connect(&server, &asked).await).await;
    let asked = head(&ada, LIST, "") + &head(&ada, &LIST.replace("GET", "HEAD"), LAST);
    let last = heard(connect(&server, &asked).await).await;

    let (head, rest) = first.split_once("\r\n\r\n").expect("a head");
    assert!(head.starts_with("HTTP/1.1 200 OK\r\n") && !head.contains("connection: "), "{first}");
    assert!(rest.starts_with("HTTP/1.1 200 OK\r\n") && rest.ends_with("\r\n\r\n[]"), "{first}");
    let (head, rest) = last.split_once("\r\n\r\n").expect("a head");
    assert!(head.starts_with("HTTP/1.1 200 OK\r\n") && !head.contains("connection: "), "{last}");
    assert!(rest.starts_with("[]HTTP/1.1 200 OK\r\n") && rest.ends_with("\r\n\r\n"), "{last}");
}

#[actix_web::test]
async fn ten_requests_are_answered_in_their_order_and_the_last_one_ends_the_connection() {
    let app = TestApp::new();
    let (server, ada) = (app.serve(), app.person("ada"));
    let asked: String = (1..=10)
        .map(|n| head(&ada, &format!("{LIST}&per_page={n}"), if n == 10 { LAST } else { "" }))
        .collect();

    let heard = heard(connect(&server, &asked).await).await;

    let pages = heard.split("x-per-page: ").skip(1).filter_map(|rest| rest.lines().next());
    let expected: Vec<String> = (1..=10).map(|n| n.to_string()).collect();
    assert_eq!(pages.collect::<Vec<_>>(), expected, "{heard}");
    assert_eq!(heard.matches("connection: close\r\n").count(), 1, "{heard}");
}

#[actix_web::test]
async fn a_request_before_one_that_is_none_is_answered() {
    let app = TestApp::new();
    let (server, ada) = (app.serve(), app.person("ada"));
    let asked = head(&ada, LIST, "") + "GET / HTTP/1.1\r\nBad Name: x\r\n\r\n";

    let heard = heard(connect(&server, &asked).await).await;

    assert_eq!(status_lines(&heard), ["200", "400"], "{heard}");
    assert!(heard.ends_with("\r\n\r\n{\"error\":\"400 Bad Request\"}"), "{heard}");
}

#[actix_web::test]
async fn bodies_of_both_kinds_end_where_the_next_request_begins() {
    let app = TestApp::new();
    let (server, ada) = (app.serve(), app.person("ada"));
    let kind = "Content-Type: application/json\r\n";
    let sized = head(&ada, "POST /projects", &format!("{kind}Content-Length: 15\r\n"));
    let chunked = head(&ada, "POST /projects", &format!("{kind}Transfer-Encoding: chunked\r\n"));
    let asked = sized
        + "{\"name\": \"one\"}"
        + &chunked
        + "5;x\r\n{\"nam\r\nA\r\ne\": \"two\"}\r\n0\r\nTrailer: x\r\n\r\n"
        + &head(&ada, LIST, LAST);

    let heard = heard(connect(&server, &asked).await).await;

    assert_eq!(status_lines(&heard), ["201", "201", "200"], "{heard}");
    let (_, list) = heard.rsplit_once("\r\n\r\n").expect("a body");
    let list: Vec<Value> = serde_json::from_str(list).expect("a list");
    assert_eq!(list.len(), 2, "{heard}");
}

#[actix_web::test]
async fn a_body_is_asked_for_and_what_follows_it_is_answered() {
    let app = TestApp::new();
    let (server, ada) = (app.serve(), app.person("ada"));
    let more = "Content-Type: application/json\r\nContent-Length: 15\r\nExpect: 100-continue\r\n";
    let mut client = connect(&server, &head(&ada, "POST /projects", more)).await;
    let mut go_ahead = [0; 25];
    client.read_exact(&mut go_ahead).await.expect("a word to go ahead");
    assert_eq!(&go_ahead, b"HTTP/1.1 100 Continue\r\n\r\n");

    let rest = "{\"name\": \"one\"}".to_owned() + &head(&ada, LIST, LAST);
    client.write_all(rest.as_bytes()).await.expect("all of it");

    assert_eq!(status_lines(&heard(client).await), ["201", "200"]);
}

#[actix_web::test]
async fn what_is_said_behind_a_change_of_the_protocol_is_no_request() {
    let app = TestApp::new();
    let (server, ada) = (app.serve(), app.person("ada"));
    let upgrade = "GET /api/graphql HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
                   Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\
                   Sec-WebSocket-Protocol: graphql-transport-ws\r\n\r\n";
    let mut client = connect(&server, &(head(&ada, LIST, "") + upgrade)).await;
    // The client ends the connection in order: the code 1000, under a mask of zeros.
    client.write_all(&[0x88, 0x82, 0, 0, 0, 0, 0x03, 0xe8]).await.expect("a server");

    let mut heard = Vec::new();
    client.read_to_end(&mut heard).await.expect("answers, and an end");

    assert!(heard.ends_with(&[0x88, 0x02, 0x03, 0xe8]), "{heard:?}");
    let heard = String::from_utf8_lossy(&heard);
    assert_eq!(status_lines(&heard), ["200", "101"], "{heard}");
}
