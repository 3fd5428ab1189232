//! Asking a service of the administrators whether somebody may enter a project, by the label of what it holds.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError, RwLock},
    time::Duration,
};

use db::Tx;
use kernel::{
    Actor, Error, Result, Ts,
    ids::{ProjectId, UserId},
    task::spawn_blocking,
};
use org::{project::settings::SettingsStore as _, settings::Settings, user::store::UserStore as _};
use outbound::Post;
use serde_json::json;

use crate::Forge;

/// The seconds within which the service answers, where the settings do not say it.
const USUAL_SECONDS: f64 = 0.5;
/// So long an answer counts.
const VALIDITY: time::Duration = time::Duration::hours(6);
/// Answers that are kept; with more, the old ones go first.
const MOST_ANSWERS: usize = 100_000;
const GRANTED: u16 = 200;
const DENIED: [u16; 2] = [401, 403];

/// A query to the authorization service: its URL, the user and the classification label.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct ServiceQuery {
    url: String,
    user: UserId,
    label: String,
}

/// The service as the settings name it.
#[derive(Clone, Debug)]
struct Service {
    url: String,
    default_label: String,
}

impl Service {
    /// Where it is asked at all.
    fn of(settings: &Settings) -> Option<Self> {
        let url = address(settings)?.to_owned();
        let label = settings.external_authorization_service_default_label().unwrap_or_default();
        Some(Self { url, default_label: label.to_owned() })
    }

    fn query(&self, user: UserId, label: Option<String>) -> ServiceQuery {
        let label = label.filter(|label| !label.trim().is_empty());
        let label = label.unwrap_or_else(|| self.default_label.clone());
        ServiceQuery { url: self.url.clone(), user, label }
    }
}

/// Answers of the service, with the time of each.
#[derive(Debug, Default)]
pub struct AuthorizationAnswers {
    known: Mutex<HashMap<ServiceQuery, (Ts, bool)>>,
    service: RwLock<Option<Service>>,
}

impl AuthorizationAnswers {
    /// Follows what the installation is set to.
    pub(crate) fn follow(&self, settings: &Settings) {
        let service = Service::of(settings);
        *self.service.write().unwrap_or_else(PoisonError::into_inner) = service;
    }

    /// Those of some projects that the service, as far as it was asked, does not keep somebody out of. Nobody is asked
    /// here: what it has not been asked about stays closed.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub(crate) fn open(
        &self,
        tx: &mut Tx<'_>,
        actor: Actor,
        projects: &[ProjectId],
    ) -> Result<Vec<ProjectId>> {
        let service = self.service.read().unwrap_or_else(PoisonError::into_inner).clone();
        let Some(service) = service.filter(|_| !actor.admin) else { return Ok(projects.to_vec()) };
        let Some(user) = actor.id else { return Ok(Vec::new()) };
        let mut settings = tx.settings_by_project(projects)?;
        let now = tx.now;
        let mut is_open = |project: &ProjectId| {
            let label = settings.remove(project)?.external_authorization_classification_label;
            self.find(&service.query(user, label), now)
        };
        Ok(projects.iter().copied().filter(|project| is_open(project) == Some(true)).collect())
    }

    fn find(&self, query: &ServiceQuery, now: Ts) -> Option<bool> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let (at, granted) = known.get(query)?;
        (at.plus(VALIDITY) > now).then_some(*granted)
    }

    fn keep(&self, query: ServiceQuery, now: Ts, granted: bool) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MOST_ANSWERS {
            known.retain(|_, (at, _)| at.plus(VALIDITY) > now);
        }
        if known.len() < MOST_ANSWERS {
            known.insert(query, (now, granted));
        }
    }
}

/// Where the service is, while it is asked at all.
fn address(settings: &Settings) -> Option<&str> {
    let is_on = settings.external_authorization_service_enabled();
    settings.external_authorization_service_url().filter(|_| is_on)
}

/// Whether what lies in several projects is closed to somebody: nobody asks for each of them.
pub fn is_closed_across_projects(forge: &Forge, actor: Actor) -> bool {
    !actor.admin && address(&forge.settings()).is_some()
}

/// Lets in whom the service lets in. Administrators are let in at any rate: they alone can change where it is.
///
/// # Errors
/// `NotFound` for everybody else, also while the service does not answer.
pub async fn ensure_admitted(forge: &Forge, actor: Actor, project: ProjectId) -> Result<()> {
    let set = forge.settings();
    let Some(service) = Service::of(&set).filter(|_| !actor.admin) else { return Ok(()) };
    let user = actor.id.ok_or_else(denial)?;
    let (label, email) = forge
        .db
        .peek(move |tx| {
            let settings = tx.project_settings(project)?;
            Ok((settings.external_authorization_classification_label, tx.user(user)?.email))
        })
        .await?;
    let query = service.query(user, label);
    let now = forge.db.clock().now();
    let granted = match forge.authorizations.find(&query, now) {
        Some(granted) => granted,
        None => ask(forge, &set, query, email).await?,
    };
    if granted { Ok(()) } else { Err(denial()) }
}

/// Whether the service lets somebody in, where nobody waits for a refusal.
///
/// # Errors
/// When the database cannot be read.
pub(crate) async fn is_admitted(forge: &Forge, actor: Actor, project: ProjectId) -> Result<bool> {
    match ensure_admitted(forge, actor, project).await {
        Ok(()) => Ok(true),
        Err(denied) if denied.is_gone() => Ok(false),
        Err(failure) => Err(failure),
    }
}

fn denial() -> Error {
    Error::not_found("Project")
}

/// Asks, and keeps the answer, where it is one.
async fn ask(forge: &Forge, set: &Settings, query: ServiceQuery, email: String) -> Result<bool> {
    let seconds = set.external_authorization_service_timeout();
    let seconds = if seconds > 0.0 { seconds } else { USUAL_SECONDS };
    let time = Duration::try_from_secs_f64(seconds).map_err(Error::internal)?;
    let client = forge.courier.rules.system().client();
    let body = json!({
        "user_identifier": email,
        "project_classification_label": query.label,
        "identities": [],
    });
    let url = query.url.clone();
    let asked = spawn_blocking(move || {
        let headers = [("Content-Type".to_owned(), "application/json".to_owned())];
        let (headers, body) = (&headers[..], body.to_string());
        let body = body.as_bytes();
        client.send(&Post { method: "POST", url: &url, headers, body, verify: true, time })
    });
    let answer = match asked.await.map_err(Error::internal)? {
        Ok(answer) => answer.status,
        Err(failure) => {
            tracing::warn!(error = %failure, "the service that admits to projects does not answer");
            return Ok(false);
        }
    };
    let granted = answer == GRANTED;
    if granted || DENIED.contains(&answer) {
        forge.authorizations.keep(query, forge.db.clock().now(), granted);
    }
    Ok(granted)
}
