//! Asking a service of the administrators whether a pipeline may run, before there is one.

use std::time::Duration;

use ci::{
    config::PlannedJob,
    pipeline::{Content, NewPipeline, PlanWithSpecs},
};
use kernel::{Error, Result, access::ProjectFacts, ids::UserId, task::spawn_blocking};
use org::user::store::UserStore as _;
use outbound::Post;
use serde_json::{Value, json};

use super::compile::CompileResult;
use crate::{Forge, settings};

/// The seconds within which the service answers, where the settings do not say it.
const USUAL_SECONDS: i64 = 5;
/// Not acceptable: the one answer that keeps a pipeline from running.
const REFUSED: u16 = 406;
const REASON: &str = "external_validation_failure";
const SENTENCE: &str = "External validation failed";

/// What becomes of a configuration: no jobs where the service refuses them. Whether any are left is told after that.
pub(super) async fn validated(
    forge: &Forge,
    facts: &ProjectFacts,
    new: &NewPipeline,
    compiled: CompileResult,
) -> Result<CompileResult> {
    let is_refused = match &compiled {
        CompileResult::Content(Content::Jobs(plan)) | CompileResult::Empty { jobs: plan, .. } => {
            refuses(forge, facts, new, plan).await?
        }
        CompileResult::Content(Content::Broken { .. } | Content::Skipped)
        | CompileResult::Missing
        | CompileResult::Refused { .. } => false,
    };
    Ok(match compiled {
        _ if is_refused => {
            CompileResult::Refused { sentence: SENTENCE.to_owned(), reason: REASON, kept: true }
        }
        CompileResult::Empty { sentence, .. } => {
            CompileResult::Refused { sentence, reason: "config_error", kept: false }
        }
        compiled => compiled,
    })
}

/// Whether the service is against these jobs. One that is silent keeps nobody from working.
async fn refuses(
    forge: &Forge,
    facts: &ProjectFacts,
    new: &NewPipeline,
    plan: &PlanWithSpecs,
) -> Result<bool> {
    let set = forge.settings();
    let Some(url) = set.external_pipeline_validation_service_url().map(str::to_owned) else {
        return Ok(false);
    };
    let seconds = set.external_pipeline_validation_service_timeout().unwrap_or(USUAL_SECONDS);
    let time = Duration::from_secs(u64::try_from(seconds).unwrap_or_default());
    let person = person(forge, new.user).await?;
    let body = record(facts, new, &person, plan.jobs(), plan.stages());
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
        Ok(answer) => Ok(answer.status == REFUSED),
        Err(failure) => {
            tracing::warn!(error = %failure, "the service that validates pipelines does not answer");
            Ok(false)
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
