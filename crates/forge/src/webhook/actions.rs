//! Trying a webhook out, and sending something once more: done at once, for somebody who waits for it.

use std::sync::Arc;

use admin::{
    delivery::{DeliveryLog, HookEvent, LogStore as _},
    flags::Flag,
    hook::{Hook, actions},
    owner::{HookKeeper, Owner},
    uuid,
};
use kernel::{
    Result,
    ids::{HookEventId, HookId, HookLogId, UserId},
};

use super::{
    dispatch::{SentRequest, failure_text, note_health},
    gaps::fill,
    payload::project::example,
    request::Request,
    trial,
};
use crate::Forge;

/// The result of a test delivery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrialResult {
    pub status: Option<u16>,
    /// The answer, or what went wrong.
    pub text: String,
}

impl TrialResult {
    pub fn is_success(&self) -> bool {
        self.status.is_some_and(|status| (200..300).contains(&status))
    }
}

/// Sends an example of an event to a hook, also to one that is left alone.
///
/// # Errors
/// As the use case refuses, and where there is nothing of which an example could be made.
pub async fn test<K: HookKeeper + Clone + Send + 'static>(
    forge: &Forge,
    keeper: K,
    id: HookId,
    flag: Flag,
) -> Result<TrialResult> {
    let by = keeper.keeper()?;
    let (urls, vault) = (forge.urls.clone(), forge.vault.clone());
    let made = forge.db.write(move |tx| {
        let hook = actions::wake(tx, &keeper, &vault, id)?;
        actions::ensure_calm(tx, &keeper, id)?;
        let example = trial::example(tx, &urls, &vault, hook.home(), (flag, by))?;
        Ok((hook, example))
    });
    let (hook, example) = made.await?;
    start(forge, &hook, by)?;
    let payload = match example.gaps {
        Some(gaps) => fill(forge, gaps, example.payload).await?,
        None => example.payload,
    };
    let event = event(&hook, forge, (flag, example.header), payload.to_string());
    send(forge, &hook, event, (&uuid::new(), by)).await
}

fn event(hook: &Hook, forge: &Forge, (flag, header): (Flag, &str), payload: String) -> HookEvent {
    let header =
        if hook.home() == Owner::Instance { admin::delivery::SYSTEM_HEADER } else { header };
    HookEvent {
        id: HookEventId(0),
        uuid: uuid::new(),
        trigger_name: flag,
        header: header.to_owned(),
        project_id: hook.project_id,
        payload,
        gaps: None,
        created_at: forge.db.clock().now(),
    }
}

/// Sends an example to a system hook; returns what was sent.
///
/// # Errors
/// As the use case refuses.
pub async fn test_system<K: HookKeeper + Clone + Send + 'static>(
    forge: &Forge,
    keeper: K,
    id: HookId,
) -> Result<serde_json::Value> {
    let by = keeper.keeper()?;
    let vault = forge.vault.clone();
    let hook = forge.db.write(move |tx| actions::wake(tx, &keeper, &vault, id)).await?;
    let payload = example();
    let event =
        event(&hook, forge, (Flag::Projects, admin::delivery::SYSTEM_HEADER), payload.to_string());
    send(forge, &hook, event, (&uuid::new(), by)).await?;
    Ok(payload)
}

/// Sends a delivery once more, as it was.
///
/// # Errors
/// As the use case refuses.
pub async fn resend<K: HookKeeper + Clone + Send + 'static>(
    forge: &Forge,
    keeper: K,
    id: HookId,
    log: HookLogId,
) -> Result<TrialResult> {
    let by = keeper.keeper()?;
    let found = forge.db.read(move |tx| actions::resend(tx, &keeper, id, log)).await?;
    start(forge, &found.0, by)?;
    let (hook, DeliveryLog { uuid, idempotency_key, trigger_name, header, request_data, .. }) =
        found;
    let again = event(&hook, forge, (trigger_name, &header), request_data);
    // What a template made of it is sent as it was.
    let hook = Hook { custom_webhook_template: None, ..hook };
    send(forge, &hook, HookEvent { uuid, header, ..again }, (&idempotency_key, by)).await
}

/// Counts what somebody has sent before it is sent: what is under way is in no log yet.
fn start(forge: &Forge, hook: &Hook, by: UserId) -> Result<()> {
    forge.courier.start((hook.project_id, hook.namespace_id, by), forge.db.clock().now())
}

async fn send(
    forge: &Forge,
    hook: &Hook,
    event: HookEvent,
    (key, by): (&str, UserId),
) -> Result<TrialResult> {
    let request = Request::to_hook(forge.urls.base(), &forge.vault, hook, &event, key)?;
    let request = Arc::new(request);
    let _places = forge.courier.places(&request)?;
    let result = forge.courier.send(Arc::clone(&request)).await?;
    let sent = SentRequest { event: &event, request: &request, result: &result };
    let (log, outcome) = (sent.log(hook, key, Some(by)), sent.outcome());
    let (id, is_system) = (hook.id, hook.home() == Owner::Instance);
    let noted = forge.db.write(move |tx| {
        tx.insert_log(&log)?;
        if !is_system {
            note_health(tx, id, outcome)?;
        }
        Ok(())
    });
    noted.await?;
    Ok(match result.answer {
        Ok(answer) => TrialResult { status: Some(answer.status), text: answer.body },
        Err(cause) => TrialResult { status: None, text: failure_text(cause) },
    })
}
