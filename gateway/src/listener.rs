//! The listening socket: what actix does for a server by itself, with [`FirstLine`] and `RequestQueue` between it and each
//! connection.

use std::{io, net, time::Duration};

use actix_http::{HttpService, Protocol, error::DispatchError};
use actix_server::{GracefulShutdownSignal, Server, ServerBuilder};
use actix_service::{ServiceFactory, ServiceFactoryExt, fn_service, map_config};
use actix_web::{App as Application, dev::AppConfig};
use tokio::net::TcpStream;

use crate::{
    app::App,
    extract::StalledBody,
    hang_up::HangUpStream,
    request_line::FirstLine,
    request_queue::{AnswerBody, RequestQueue},
    serve,
    write_timeout::WriteTimeout,
};

/// A client's connection: what stands between the HTTP library and the network.
type Connection = HangUpStream<FirstLine<RequestQueue<WriteTimeout<TcpStream>>>>;

/// The number of clients served at once, and their timeouts.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    pub workers: usize,
    /// Over all workers.
    pub connections: usize,
    /// Until the head of a request is there.
    pub head: Duration,
    /// For requests that are being answered when the server stops.
    pub drain: Duration,
}

/// Between two requests of a connection.
const KEEP_ALIVE: Duration = Duration::from_secs(75);
const DISCONNECT: Duration = Duration::from_secs(5);
/// For a client that takes nothing of what is sent to it.
const WRITE: Duration = Duration::from_secs(120);

/// Serves on every address of a host and port.
pub fn bind(app: App, address: &str, bounds: Bounds) -> io::Result<Server> {
    let builder = builder(bounds);
    let stopping = builder.graceful_shutdown_signal();
    let serving = move || connections(app.clone(), bounds, stopping.clone());
    Ok(builder.bind("http", address, serving)?.run())
}

/// As [`bind`], on a socket that is open already.
pub fn listen(app: App, socket: net::TcpListener, bounds: Bounds) -> io::Result<Server> {
    let builder = builder(bounds);
    let stopping = builder.graceful_shutdown_signal();
    let serving = move || connections(app.clone(), bounds, stopping.clone());
    Ok(builder.listen("http", socket, serving)?.run())
}

fn builder(bounds: Bounds) -> ServerBuilder {
    Server::build()
        .workers(bounds.workers)
        .max_concurrent_connections((bounds.connections / bounds.workers.max(1)).max(1))
        .shutdown_timeout(bounds.drain.as_secs())
        .disable_signals()
}

fn connections(
    app: App,
    bounds: Bounds,
    stopping: GracefulShutdownSignal,
) -> impl ServiceFactory<TcpStream, Config = (), Response = (), Error = DispatchError, InitError = ()>
{
    let application = Application::new().configure(serve::configure(app));
    let answers = map_config(application, |()| AppConfig::default()).map(AnswerBody::of);
    let http = HttpService::build()
        .graceful_shutdown_signal(move || {
            let stopping = stopping.clone();
            async move { stopping.notified().await }
        })
        .keep_alive(KEEP_ALIVE)
        .client_request_timeout(bounds.head)
        .client_disconnect_timeout(DISCONNECT)
        // A runner that went away while its request was held must not be given a job.
        .h1_allow_half_closed(false)
        .on_connect_ext(|connection: &Connection, data| {
            data.insert(connection.hang_up());
            data.insert(connection.inner().inner().answer_end());
            data.insert(StalledBody::default());
        })
        .finish(answers);
    let watched = fn_service(move |stream: TcpStream| async move {
        let peer = stream.peer_addr().ok();
        let queue = RequestQueue::new(WriteTimeout::new(stream, WRITE), bounds.head);
        let connection = HangUpStream::new(FirstLine::new(queue));
        Ok::<_, DispatchError>((connection, Protocol::Http1, peer))
    });
    watched.and_then(http)
}
