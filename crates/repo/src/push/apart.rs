//! A push of many refs taken ref by ref: what is refused keeps nothing else back.

use std::sync::Arc;

use db::Database;
use kernel::{Error, Result};

use super::{Incoming, Push, RefChange, examine, land};
use crate::{commit::Writer, ports::People};

/// After so many refusals the rest of a group that is refused is not looked at ref by ref any more.
const MOST_ALONE: usize = 100;

/// What became of the refs of a push.
#[derive(Debug, Default)]
pub struct Parts {
    pub accepted: Vec<RefChange>,
    pub refused: Vec<(Vec<RefChange>, Error)>,
}

/// Examines a push. With `together`, all of it is refused with its first ref.
pub async fn examine_apart(
    db: &Database,
    people: &Arc<dyn People>,
    incoming: &Incoming,
    push: &Push,
    together: bool,
) -> Parts {
    let attempt = move |changes| {
        let part = push.part(changes);
        async move { examine(db, people, incoming, &part).await }
    };
    take_apart(push.changes.clone(), together, attempt).await
}

/// Decides and carries out a push that was examined.
pub async fn land_apart(by: Writer<'_>, push: &Push, together: bool) -> Parts {
    let attempt = move |changes| {
        let part = push.part(changes);
        async move { Ok(land(by, part).await?) }
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
    matches!(error, Error::Rejected(_) | Error::Refused(_) | Error::Conflict(_))
}
