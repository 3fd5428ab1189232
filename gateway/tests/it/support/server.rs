//! An application that listens on a port of its own, for clients that are programs.

use std::path::Path;

use actix_web::{App, HttpServer, dev::ServerHandle};
use gateway::{git_http, serve};
use repo::git::hook::Listener;

use super::TestApp;

/// Serves until it is dropped.
pub(crate) struct Server {
    pub(crate) address: String,
    handle: ServerHandle,
    _hooks: Listener,
}

impl TestApp {
    /// Begins to serve; git's hooks are the real program.
    pub(crate) fn serve(&self) -> Server {
        let program = Path::new(env!("CARGO_BIN_EXE_forgeway"));
        let hooks = git_http::listen_with(&self.state, program).expect("the hooks are set up");
        let state = self.state.clone();
        let server = HttpServer::new(move || App::new().configure(serve::configure(state.clone())))
            .workers(1)
            .disable_signals()
            .bind(("127.0.0.1", 0))
            .expect("a free port");
        let address = server.addrs()[0].to_string();
        let running = server.run();
        let handle = running.handle();
        drop(actix_web::rt::spawn(running));
        Server { address, handle, _hooks: hooks }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.handle.stop(false));
    }
}
