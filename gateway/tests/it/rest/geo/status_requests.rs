//! A primary that asks another node for its status.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::mpsc::{Receiver, Sender, channel},
    time::Duration,
};

use diesel::prelude::*;
use serde_json::json;

use super::{caller, primary, secondary};
use crate::support::TestApp;

/// A node that is silent to everybody until it is released.
struct SilentNode {
    address: SocketAddr,
    release: Sender<()>,
}

impl SilentNode {
    fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("an address");
        let (release, held) = channel();
        std::thread::spawn(move || serve(&listener, &held));
        Self { address, release }
    }
}

fn serve(listener: &TcpListener, held: &Receiver<()>) {
    let mut silent: Vec<TcpStream> = Vec::new();
    for mut stream in listener.incoming().map_while(Result::ok) {
        let mut first = String::new();
        let reader = stream.try_clone().expect("a stream");
        BufReader::new(reader).read_line(&mut first).expect("a request");
        assert!(first.starts_with("GET /api/v4/geo/status "), "{first}");
        if held.try_recv().is_err() {
            silent.push(stream);
            continue;
        }
        let body = json!({ "version": "15.7.0", "status": { "projects_count": 7 } }).to_string();
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len());
        stream.write_all((head + &body).as_bytes()).expect("an answer");
    }
}

#[actix_web::test]
async fn a_node_is_asked_for_its_status_and_waited_for_as_the_settings_say() {
    let (app, node) = (TestApp::reaching("127.0.0.1"), SilentNode::new());
    let copy = secondary(&app, "copy").await;
    primary(&app).await;
    let url = format!("http://{}/", node.address);
    app.write(move |tx| {
        use db::schema::geo_nodes as nodes;
        let row = diesel::update(nodes::table.find(copy.id)).set(nodes::internal_url.eq(url));
        db::each_backend!(tx, |conn| row.execute(conn).map_err(db::error("GeoNode")))
    });
    let path = format!("/geo_nodes/{}/status?refresh=true", copy.id);
    let root = app.admin();
    root.put("/application/settings", json!({ "geo_status_timeout": 1 })).await.ok();
    let asked = actix_web::rt::time::timeout(Duration::from_secs(9), root.get(&path)).await;
    asked.expect("it waits for a second, not for ten").with(404);

    node.release.send(()).expect("it listens");

    let shown = root.get(&path).await.ok();
    assert_eq!((&shown["projects_count"], &shown["version"]), (&json!(7), &json!("15.7.0")));
}

#[actix_web::test]
async fn a_node_tells_its_status_to_another_node_alone() {
    let app = TestApp::new();
    let copy = secondary(&app, "copy").await;
    let id = primary(&app).await["id"].clone();

    let told = caller(&app, &copy).get("/geo/status").await.ok();

    assert_eq!((&told["geo_node_id"], &told["status"]["projects_count"]), (&id, &json!(0)));
    app.admin().get("/geo/status").await.with(401);
}
