//! The hooks of pushes, and who answers them.

use std::{io, sync::Arc};

use repo::git::hook::{self, Hooks, Listener};

use super::hook_server::Gate;
use crate::app::App;

/// Begins to answer hooks. Without it nothing can be pushed.
pub fn listen(app: &App) -> io::Result<Listener> {
    let program = std::env::current_exe()?;
    listen_with(app, &program)
}

/// As [`listen`], with another program to run as hooks.
pub fn listen_with(app: &App, program: &std::path::Path) -> io::Result<Listener> {
    let hooks = Hooks::install(app.data(), program)?;
    let listener = hook::listen(hooks.socket(), Arc::new(Gate::new(Arc::clone(app))))?;
    app.transport.hooks.get_or_init(|| hooks);
    Ok(listener)
}
