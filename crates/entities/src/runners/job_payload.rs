//! A job as runners read it. Their reader is strict: a number in the place of a text, or an unknown form of a known field,
//! makes it refuse the whole job, which then hangs until it is found to be stuck.

use ci::config::{
    options::{Artifacts, Cache, Image, Service},
    variables::Variable,
};
use forge::runner::{Handover, job_calls::FAILURE_REASONS};
use serde::Serialize;
use serde_json::{Map, Value, json};
use utoipa::ToSchema;

use super::release_step;

#[derive(Debug, Serialize, ToSchema)]
pub struct JobPayload {
    #[serde(flatten)]
    #[schema(value_type = Object)]
    fields: Map<String, Value>,
}

const NO_COMMIT: &str = "0000000000000000000000000000000000000000";

impl JobPayload {
    pub fn new(of: &Handover) -> Self {
        let options = &of.spec.options;
        let services: Option<Vec<Value>> =
            options.services.as_ref().map(|all| all.iter().map(service).collect());
        let hooks = options.hooks.as_ref().and_then(|hooks| {
            let script = hooks.pre_get_sources_script.as_ref()?;
            Some(json!([{ "name": "pre_get_sources_script", "script": script }]))
        });
        let fields = json!({
            "id": of.job.id.0,
            "token": of.token.reveal(),
            "allow_git_fetch": of.allow_git_fetch,
            "job_info": job_info(of),
            "git_info": git_info(of),
            "runner_info": { "timeout": of.timeout, "runner_session_url": null },
            "variables": of.variables.iter().map(variable).collect::<Vec<_>>(),
            "steps": steps(of),
            "image": options.image.as_ref().map(image),
            "services": services.unwrap_or_default(),
            "artifacts": options.artifacts.as_ref().map(artifacts).unwrap_or_default(),
            "cache": caches(of),
            "credentials": [],
            "dependencies": dependencies(of),
            "features": { "trace_sections": true, "failure_reasons": FAILURE_REASONS },
            "hooks": hooks.unwrap_or_else(|| json!([])),
            "secrets": {},
        });
        let Value::Object(fields) = fields else { return Self { fields: Map::new() } };
        Self { fields }
    }
}

fn job_info(of: &Handover) -> Value {
    let queued = of.job.queued_at.zip(of.job.started_at).map(|(from, to)| to.0 - from.0);
    let running = of.running_on_instance_runners.map_or("+Inf".to_owned(), |n| n.to_string());
    json!({
        "id": of.job.id.0,
        "name": of.job.name,
        "stage": of.job.stage,
        "project_id": of.facts.id.0,
        "project_name": of.facts.name,
        "project_full_path": of.facts.full_path,
        "time_in_queue_seconds": queued.unwrap_or_default() / 1_000_000,
        "project_jobs_running_on_instance_runners_count": running,
    })
}

fn git_info(of: &Handover) -> Value {
    let tag = of.job.tag;
    json!({
        "repo_url": of.repository_url,
        "ref": of.branch,
        "sha": of.job.sha,
        "before_sha": of.pipeline.before_sha.as_deref().unwrap_or(NO_COMMIT),
        "ref_type": if tag { "tag" } else { "branch" },
        "refspecs": refspecs(of),
        "depth": of.git_depth,
        "repo_object_format": "sha1",
        "protected": of.job.protected,
    })
}

fn refspecs(of: &Handover) -> Vec<String> {
    let (id, name) = (of.pipeline.id, &of.branch);
    let mut all = vec![format!("+refs/pipelines/{id}:refs/pipelines/{id}")];
    match (of.git_depth > 0, of.job.tag) {
        // The branch of a merge request may have gone on, and others may be gone.
        (true, false) if of.pipeline.merge_request_id.is_some() => {}
        (true, _) if !of.has_branch => {}
        (true, false) => all.push(format!("+refs/heads/{name}:refs/remotes/origin/{name}")),
        (true, true) => all.push(format!("+refs/tags/{name}:refs/tags/{name}")),
        (false, _) => {
            all.push("+refs/heads/*:refs/remotes/origin/*".to_owned());
            all.push("+refs/tags/*:refs/tags/*".to_owned());
        }
    }
    all
}

fn variable(of: &Variable) -> Value {
    let mut fields = json!({
        "key": of.key, "value": of.value, "public": of.public, "masked": of.masked,
    });
    if of.file {
        fields["file"] = json!(true);
    }
    if of.raw {
        fields["raw"] = json!(true);
    }
    fields
}

fn steps(of: &Handover) -> Vec<Value> {
    let options = &of.spec.options;
    let lines = |lines: &Option<Vec<String>>| lines.clone().unwrap_or_default();
    let script = [lines(&options.before_script), lines(&options.script)].concat();
    let step = |name: &str, script: Vec<String>, when: &str, allow_failure: bool| {
        json!({
            "name": name, "script": script, "timeout": of.timeout, "when": when,
            "allow_failure": allow_failure,
        })
    };
    let mut all = vec![step("script", script, "on_success", false)];
    if let Some(release) = &options.release {
        all.push(step("release", vec![release_step::command(release)], "on_success", false));
    }
    let after = lines(&options.after_script);
    if !after.is_empty() {
        all.push(step("after_script", after, "always", true));
    }
    all
}

fn image(of: &Image) -> Value {
    let mut fields = json!({
        "name": of.name, "entrypoint": of.entrypoint, "ports": [], "pull_policy": of.pull_policy,
    });
    if let Some(options) = of.executor_opts.as_ref().map(executor_options) {
        fields["executor_opts"] = options;
    }
    fields
}

/// What runners know of them. Their decoder refuses the whole job where a value has another type, and with it whoever sent
/// it; so nothing else is passed on.
fn executor_options(given: &Value) -> Value {
    let known = |kind: &str, name: &str, is_sound: fn(&Value) -> bool| {
        given
            .get(kind)
            .and_then(|options| options.get(name))
            .filter(|value| is_sound(value))
            .cloned()
    };
    let is_user = |value: &Value| value.is_string() || value.is_i64();
    let mut options = json!({});
    for (kind, name, value) in [
        ("docker", "platform", known("docker", "platform", Value::is_string)),
        ("docker", "user", known("docker", "user", is_user)),
        ("kubernetes", "user", known("kubernetes", "user", is_user)),
    ] {
        if let Some(value) = value {
            options[kind][name] = value;
        }
    }
    options
}

fn service(of: &Service) -> Value {
    let variables: Option<Vec<Value>> = of.variables.as_ref().map(|all| {
        let text = |value: &Value| match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        all.iter().map(|(key, value)| json!({ "key": key, "value": text(value) })).collect()
    });
    let mut fields = image(&of.image);
    fields["alias"] = json!(of.alias.as_deref().unwrap_or_default());
    fields["command"] = json!(of.command);
    fields["variables"] = json!(variables.unwrap_or_default());
    fields
}

/// Kinds of reports with the name of their file and how it is packed.
const REPORTS: &[(&str, &str, &str)] = &[
    ("junit", "junit.xml", "gzip"),
    ("dotenv", ".env", "gzip"),
    ("cobertura", "cobertura-coverage.xml", "gzip"),
    ("sast", "gl-sast-report.json", "raw"),
    ("secret_detection", "gl-secret-detection-report.json", "raw"),
    ("dependency_scanning", "gl-dependency-scanning-report.json", "raw"),
    ("container_scanning", "gl-container-scanning-report.json", "raw"),
    ("cluster_image_scanning", "gl-cluster-image-scanning-report.json", "raw"),
    ("dast", "gl-dast-report.json", "raw"),
    ("codequality", "gl-code-quality-report.json", "raw"),
    ("license_scanning", "gl-license-scanning-report.json", "raw"),
    ("terraform", "tfplan.json", "raw"),
    ("coverage_fuzzing", "gl-coverage-fuzzing.json", "raw"),
    ("api_fuzzing", "gl-api-fuzzing-report.json", "raw"),
    ("cyclonedx", "gl-sbom.cdx.json", "gzip"),
    ("accessibility", "gl-accessibility.json", "raw"),
    ("performance", "performance.json", "raw"),
    ("browser_performance", "browser-performance.json", "raw"),
    ("load_performance", "load-performance.json", "raw"),
    ("metrics", "metrics.txt", "gzip"),
    ("requirements", "requirements.json", "raw"),
    ("lsif", "lsif.json", "zip"),
];

fn artifacts(of: &Artifacts) -> Vec<Value> {
    let mut all = Vec::new();
    if of.paths.as_ref().is_some_and(|paths| !paths.is_empty()) || of.untracked == Some(true) {
        let mut archive = json!({
            "artifact_type": "archive", "artifact_format": "zip",
            "name": of.name, "untracked": of.untracked, "paths": of.paths, "when": of.when,
            "expire_in": of.expire_in, "exclude": of.exclude,
        });
        if let Value::Object(fields) = &mut archive {
            fields.retain(|_, value| !value.is_null());
        }
        all.push(archive);
    }
    for (kind, paths) in of.reports.iter().flatten() {
        all.extend(report(kind, paths, of.expire_in.as_deref()));
    }
    all
}

fn report(kind: &str, told: &Value, expire_in: Option<&str>) -> Option<Value> {
    // A report on coverage says its format beside the path.
    let (kind, told) = match kind {
        "coverage_report" => (told["coverage_format"].as_str()?, &told["path"]),
        kind => (kind, told),
    };
    let paths: Vec<&str> = match told {
        Value::String(path) => vec![path],
        Value::Array(paths) => paths.iter().filter_map(Value::as_str).collect(),
        _ => return None,
    };
    let (_, name, format) = REPORTS.iter().find(|(known, ..)| *known == kind)?;
    let mut fields = json!({
        "name": name, "paths": paths, "when": "always", "artifact_type": kind,
        "artifact_format": format,
    });
    if let Some(expire_in) = expire_in {
        fields["expire_in"] = json!(expire_in);
    }
    Some(fields)
}

fn dependencies(of: &Handover) -> Vec<Value> {
    let token = of.token.reveal();
    let one = |one: &forge::runner::Dependency| {
        json!({
            "id": one.job.0, "name": one.name, "token": token,
            "artifacts_file": { "filename": one.filename, "size": one.size },
        })
    };
    of.dependencies.iter().map(one).collect()
}

fn caches(of: &Handover) -> Vec<Value> {
    let caches = of.spec.options.cache.iter().flatten();
    caches.map(|cache| self::cache(of, cache)).collect()
}

fn cache(of: &Handover, cache: &Cache) -> Value {
    // A cache without protection is shared with other branches. No key is left as it is, or else a job of any branch could name
    // the caches of protected ones, as its first choice or as a later one.
    let protected = of.job.protected && !cache.unprotect.unwrap_or_default();
    let suffix = match (of.separated_caches, protected) {
        (false, _) => "",
        (true, true) => "-protected",
        (true, false) => "-non_protected",
    };
    let fallbacks = cache.fallback_keys.iter().map(|key| format!("{key}{suffix}"));
    json!({
        "key": format!("{}{suffix}", cache.key),
        "untracked": cache.untracked.unwrap_or_default(),
        "paths": cache.paths.clone().unwrap_or_default(),
        "policy": cache.policy,
        "when": cache.when,
        "fallback_keys": fallbacks.collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::executor_options;

    #[test]
    fn a_runner_is_sent_nothing_that_it_cannot_decode() {
        assert_eq!(executor_options(&json!({ "docker": "x" })), json!({}));
        assert_eq!(executor_options(&json!({ "docker": { "platform": 5, "odd": 1 } })), json!({}));
        let known = json!({ "docker": { "platform": "arm64", "user": "dave" }, "kubernetes": { "user": 1001 } });
        assert_eq!(executor_options(&known), known);
    }
}
