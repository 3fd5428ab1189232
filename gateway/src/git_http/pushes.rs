//! The pushes under way, each from the first byte that git sees to the last answer of its hooks.

use std::{
    collections::HashMap,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

use kernel::{Actor, ids::UserId};
use repo::git::{RefName, push_head::PushHead};

use super::{kind::Kind, push_decision::Judgement};

#[derive(Default)]
pub(super) struct Pushes(Mutex<HashMap<String, Arc<ActivePush>>>);

/// One push.
pub(super) struct ActivePush {
    pub(super) kind: Kind,
    pub(super) user: UserId,
    pub(super) actor: Actor,
    pub(super) head: PushHead,
    /// Held while a hook is answered, so that the end of the push waits for the answer.
    pub(super) progress: tokio::sync::Mutex<Progress>,
}

/// The progress of a push.
#[derive(Default)]
pub(super) struct Progress {
    /// Git has ended: nothing may be decided any more.
    pub(super) over: bool,
    pub(super) judgement: Judgement,
    /// The branch that is to become the default one, or that a wiki is to be read from.
    pub(super) head: Option<RefName>,
    /// Where the objects went that must be durable before anything names them.
    pub(super) folders: Vec<PathBuf>,
    pub(super) brought_something: bool,
}

impl Pushes {
    pub(super) fn open(&self, kind: Kind, user: UserId, actor: Actor, head: PushHead) -> String {
        let id = hex::encode(rand::random::<[u8; 16]>());
        let progress = tokio::sync::Mutex::default();
        let underway = ActivePush { kind, user, actor, head, progress };
        self.all().insert(id.clone(), Arc::new(underway));
        id
    }

    pub(super) fn find(&self, id: &str) -> Option<Arc<ActivePush>> {
        self.all().get(id).cloned()
    }

    /// Ends a push after git has ended; whether it moved any ref of a project.
    pub(super) async fn close(&self, id: &str) -> bool {
        let Some(underway) = self.all().remove(id) else { return false };
        let mut progress = underway.progress.lock().await;
        progress.over = true;
        progress.brought_something
    }

    fn all(&self) -> std::sync::MutexGuard<'_, HashMap<String, Arc<ActivePush>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
