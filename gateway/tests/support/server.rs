//! An application that listens on a port of its own, for clients that are programs.

use std::{net::TcpListener, path::Path, time::Duration};

use actix_web::dev::ServerHandle;
use gateway::{
    git_http,
    listener::{self, Bounds},
};
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
        let socket = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
        let address = socket.local_addr().expect("an address").to_string();
        let seconds = Duration::from_secs(5);
        let bounds = Bounds { workers: 1, connections: 1000, head: seconds, drain: seconds };
        let running = listener::listen(self.state.clone(), socket, bounds).expect("a server");
        let handle = running.handle();
        kernel::task::spawn_local(async move { drop(running.await) });
        Server { address, handle, _hooks: hooks }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.handle.stop(false));
    }
}
