//! A push of many refs taken ref by ref: what is refused keeps nothing else back.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::Relaxed},
};

use db::Database;
use kernel::{Error, Result, error::Kind};

use super::{Incoming, Push, RefChange, check_push_rule, land};
use crate::{commit::Writer, ports::People, protection::rules};

/// After so many refusals the rest of a group that is refused is not looked at ref by ref any more.
const MOST_ALONE: usize = 100;

/// The results of the refs of a push.
#[derive(Debug, Default)]
pub struct Parts {
    pub accepted: Vec<RefChange>,
    pub refused: Vec<(Vec<RefChange>, Error)>,
}

/// Examines a push. With `together`, all of it is refused with its first ref.
pub async fn check_push_rule_by_ref(
    db: &Database,
    people: &Arc<dyn People>,
    incoming: &Incoming,
    push: &Push,
    together: bool,
) -> Parts {
    // What may not move at all is known of each ref at once, and need not be looked for by halves.
    let (allowed, refused) = match together {
        true => (push.changes.clone(), Vec::new()),
        false => match forbidden(db, push).await {
            Ok(parts) => (parts.accepted, parts.refused),
            Err(error) => {
                return Parts {
                    accepted: Vec::new(),
                    refused: vec![(push.changes.clone(), error)],
                };
            }
        },
    };
    let attempt = move |changes| {
        let part = push.part(changes);
        async move { check_push_rule(db, people, incoming, &part).await }
    };
    let mut parts = take_apart(allowed, together, attempt).await;
    parts.refused.splice(0..0, refused);
    parts
}

/// The refs that their pusher may not move, whatever they bring.
async fn forbidden(db: &Database, push: &Push) -> Result<Parts> {
    let asked = push.clone();
    let texts = db.read(move |tx| {
        let fork_push_access = asked.fork_push_access.as_deref();
        rules::refusals(tx, &asked.who, &asked.project, &asked.changes, asked.via, fork_push_access)
    });
    let mut parts = Parts::default();
    for (change, text) in push.changes.iter().cloned().zip(texts.await?) {
        match text {
            Some(text) => parts.refused.push((vec![change], Error::bad_request().whole(text))),
            None => parts.accepted.push(change),
        }
    }
    Ok(parts)
}

/// Decides and carries out a push that was examined.
pub async fn land_apart(by: Writer<'_>, push: &Push, together: bool) -> Parts {
    let landed = &AtomicUsize::new(0);
    let attempt = move |changes: Vec<RefChange>| {
        let runs = changes.iter().filter(|change| change.may_run()).count();
        let part = Push { earlier: landed.load(Relaxed), ..push.part(changes) };
        async move {
            land(by, part).await?;
            landed.fetch_add(runs, Relaxed);
            Ok(())
        }
    };
    take_apart(push.changes.clone(), together, attempt).await
}

/// Tries all at once, which nearly always is enough, and halves of what is refused.
pub async fn take_apart<F>(
    changes: Vec<RefChange>,
    together: bool,
    attempt: impl Fn(Vec<RefChange>) -> F + Send,
) -> Parts
where
    F: Future<Output = Result<()>> + Send,
{
    let mut parts = Parts::default();
    let mut open = vec![changes];
    while let Some(mut changes) = open.pop() {
        if changes.is_empty() {
            continue;
        }
        match attempt(changes.clone()).await {
            Ok(()) => parts.accepted.extend(changes),
            Err(error) if is_about_refs(&error) => {
                let whole = together || changes.len() == 1 || parts.refused.len() >= MOST_ALONE;
                if whole {
                    parts.refused.push((changes, error));
                } else {
                    let second = changes.split_off(changes.len().div_ceil(2));
                    open.extend([second, changes]);
                }
            }
            // It would be the same for all others.
            Err(error) => {
                changes.extend(open.drain(..).flatten());
                parts.refused.push((changes, error));
            }
        }
    }
    parts
}

fn is_about_refs(error: &Error) -> bool {
    error.is_whole(Kind::BadRequest) || error.has_reason(Kind::Forbidden)
}
