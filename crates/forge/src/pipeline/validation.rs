//! Asking a service of the administrators whether a pipeline may run, before there is one.

use std::time::Duration;

use ci::{
    config::PlannedJob,
    pipeline::{Content, NewPipeline},
};
use kernel::{Error, Result, access::ProjectFacts, ids::UserId};
use org::user::store::UserStore as _;
use outbound::Post;
use serde_json::{Value, json};
use tokio::task::spawn_blocking;

use crate::{Forge, settings};

/// The seconds within which the service answers, where the settings do not say it.
const USUAL_SECONDS: i64 = 5;
/// Not acceptable: the one answer that keeps a pipeline from running.
const REFUSED: u16 = 406;
const REASON: &str = "external_validation_failure";
const SENTENCE: &str = "External validation failed";

/// What becomes of a pipeline: no jobs where the service refuses it. One that is silent keeps nobody from working.
pub(super) async fn validated(
    forge: &Forge,
    facts: &ProjectFacts,
    new: &NewPipeline,
    content: Content,
) -> Result<Content> {
    let set = forge.settings();
    let Some(url) = set.external_pipeline_validation_service_url().map(str::to_owned) else {
        return Ok(content);
    };
    if !matches!(content, Content::Jobs(_)) {
        return Ok(content);
    }
    let seconds = set.external_pipeline_validation_service_timeout().unwrap_or(USUAL_SECONDS);
    let time = Duration::from_secs(u64::try_from(seconds).unwrap_or_default());
    let person = person(forge, new.user).await?;
    let body = match &content {
        Content::Jobs(plan) => record(facts, new, &person, plan.jobs(), plan.stages()),
        Content::Broken { .. } | Content::Skipped => Value::Null,
    };
    let mut headers = vec![("Content-Type".to_owned(), "application/json".to_owned())];
    if let Some(token) = settings::secret(forge, &set, "external_pipeline_validation_service_token")
    {
        headers.push(("X-Gitlab-Token".to_owned(), token));
    }
    let client = forge.courier.rules.system().client();
    let asked = spawn_blocking(move || {
        let body = body.to_string();
        let (headers, body) = (&headers[..], body.as_bytes());
        client.send(&Post { method: "POST", url: &url, headers, body, verify: true, time })
    });
    match asked.await.map_err(Error::internal)? {
        Ok(answer) if answer.status == REFUSED => {
            Ok(Content::Broken { reason: REASON, sentence: SENTENCE.to_owned() })
        }
        Ok(_) => Ok(content),
        Err(failure) => {
            tracing::warn!(error = %failure, "the service that validates pipelines does not answer");
            Ok(content)
        }
    }
}

async fn person(forge: &Forge, user: Option<UserId>) -> Result<Value> {
    let Some(id) = user else { return Ok(Value::Null) };
    let found = forge.db.read(move |tx| tx.find_user(id)).await?;
    Ok(found.map_or(Value::Null, |user| {
        json!({ "id": user.id, "username": user.username, "email": user.email,
                "created_at": user.created_at.iso() })
    }))
}

/// What the service is told.
fn record(
    facts: &ProjectFacts,
    new: &NewPipeline,
    person: &Value,
    jobs: &[PlannedJob],
    stages: &[String],
) -> Value {
    let builds: Vec<Value> = jobs.iter().map(|job| build(job, stages)).collect();
    json!({
        "project": { "id": facts.id, "path": facts.full_path },
        "user": person,
        "pipeline": { "sha": new.sha, "ref": new.place.name, "type": new.source.to_string() },
        "total_builds_count": builds.len(),
        "builds": builds,
    })
}

fn build(job: &PlannedJob, stages: &[String]) -> Value {
    let options = &job.options;
    let image = options.image.as_ref().map(|image| image.name.as_str());
    let script: Vec<&String> = [&options.before_script, &options.script, &options.after_script]
        .into_iter()
        .flatten()
        .flatten()
        .collect();
    json!({ "name": &*job.name, "stage": stages.get(job.stage), "image": image,
            "services": options.services, "script": script })
}
