//! The pushes under way, each from the first byte that git sees to the last answer of its hooks.

use std::{
    collections::HashMap,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

use kernel::{Actor, ids::UserId};
use repo::{
    git::{RefName, refs::RefMove},
    push::{Push, RefChange},
    wiki::journal,
};

use super::permit::Kind;
use crate::app::App;

#[derive(Default)]
pub(super) struct Pushes(Mutex<HashMap<String, Arc<Underway>>>);

/// One push.
pub(super) struct Underway {
    pub(super) kind: Kind,
    pub(super) user: UserId,
    pub(super) actor: Actor,
    /// Held while a hook is answered, so that the end of the push waits for the answer.
    pub(super) progress: tokio::sync::Mutex<Progress>,
}

/// How far a push has got.
#[derive(Default)]
pub(super) struct Progress {
    /// Git has ended: nothing may be decided any more.
    pub(super) over: bool,
    /// What was looked at and allowed when everything had arrived.
    pub(super) allowed: Vec<RefChange>,
    /// The branch that is to become the default one, or that a wiki is to be read from.
    pub(super) head: Option<RefName>,
    /// Where the objects went that must be durable before anything names them.
    pub(super) folders: Vec<PathBuf>,
    /// What was decided and git has not yet followed.
    pub(super) decided: Vec<Push>,
    /// The same, of a push to a wiki.
    pub(super) decided_for_wiki: Vec<RefMove>,
}

impl Pushes {
    pub(super) fn open(&self, kind: Kind, user: UserId, actor: Actor) -> String {
        let id = hex::encode(rand::random::<[u8; 16]>());
        let underway = Underway { kind, user, actor, progress: tokio::sync::Mutex::default() };
        self.all().insert(id.clone(), Arc::new(underway));
        id
    }

    pub(super) fn find(&self, id: &str) -> Option<Arc<Underway>> {
        self.all().get(id).cloned()
    }

    fn all(&self) -> std::sync::MutexGuard<'_, HashMap<String, Arc<Underway>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ends a push after git has ended. What was decided and not carried out is carried out now.
pub(super) async fn close(app: &App, id: &str) {
    let Some(underway) = app.transport.pushes.all().remove(id) else { return };
    let mut progress = underway.progress.lock().await;
    progress.over = true;
    for push in progress.decided.drain(..) {
        tracing::warn!(project = %push.project.id, "git did not follow a push that was decided");
        if let Err(cause) = repo::push::complete(&app.git, &app.storage, &app.journal, &push).await
        {
            tracing::error!(error = %cause, "a push is left to the next start");
        }
    }
    let moves = std::mem::take(&mut progress.decided_for_wiki);
    if let (Kind::Wiki(wiki), false) = (underway.kind, moves.is_empty()) {
        tracing::warn!("git did not follow a push to a wiki that was decided");
        let done = journal::complete(&app.db, &app.git, &app.storage, wiki, moves).await;
        if let Err(cause) = done {
            tracing::error!(error = %cause, "a push to a wiki is left to the next start");
        }
    }
}
