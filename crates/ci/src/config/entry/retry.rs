//! `retry`: how often a job that failed is tried again, and after which failures.

use kernel::values::range_fault;

use super::{Entry, Path, Report, fields};
use crate::config::{
    node::{Map, Node},
    options::{MOST_RETRIES, Retry},
};

/// Reasons of failures, and the word for all of them.
const REASONS: &[&str] = &[
    "always",
    "unknown_failure",
    "script_failure",
    "api_failure",
    "stuck_or_timeout_failure",
    "runner_system_failure",
    "missing_dependency_failure",
    "runner_unsupported",
    "stale_schedule",
    "job_execution_timeout",
    "archived_failure",
    "unmet_prerequisites",
    "scheduler_failure",
    "data_integrity_failure",
    "forward_deployment_failure",
    "failed_outdated_deployment_job",
    "user_blocked",
    "project_deleted",
    "builds_disabled",
    "ci_quota_exceeded",
    "no_matching_runner",
    "trace_size_exceeded",
    "environment_creation_failure",
    "deployment_rejected",
    "protected_environment_failure",
    "secrets_provider_not_found",
    "ip_restriction_failure",
    "pipeline_loop_detected",
    "invalid_bridge_trigger",
    "downstream_bridge_project_not_found",
    "upstream_bridge_project_not_found",
    "insufficient_bridge_permissions",
    "insufficient_upstream_permissions",
    "bridge_pipeline_is_child_pipeline",
    "downstream_pipeline_creation_failed",
    "reached_max_descendant_pipelines_depth",
    "reached_max_pipeline_hierarchy_size",
    "reached_downstream_pipeline_trigger_rate_limit",
];

/// Its problems have always been told without the job's name.
pub(super) fn retry(report: &mut Report, entry: Entry<'_>) -> Option<Retry> {
    let path = Path::of("retry");
    match entry.node {
        Node::Int(_) => {
            let mark = report.mark();
            let max = count(report, &path, "config", entry.node);
            let retry = Retry { max, when: None, exit_codes: None };
            report.is_clean_since(mark).then_some(retry)
        }
        Node::Map(map) => full(report, &path, map),
        _ => {
            report.config(&path, "has to be either an integer or a hash");
            None
        }
    }
}

fn full(report: &mut Report, path: &Path<'_>, map: &Map) -> Option<Retry> {
    let mark = report.mark();
    let mut fields = fields::Fields::of(report, path, map);
    fields.known(&["max", "when", "exit_codes"]);
    let max = fields.get("max").and_then(|node| count(fields.report, path, "max", node));
    let when = fields.one_or_more_texts("when");
    if let (Some(reasons), Some(node)) = (&when, map.present("when")) {
        ensure_known(report, path, reasons, node);
    }
    let exit_codes = fields::Fields::of(report, path, map).numbers("exit_codes");
    report.is_clean_since(mark).then_some(Retry { max, when, exit_codes })
}

fn count(report: &mut Report, path: &Path<'_>, attribute: &str, node: &Node) -> Option<u8> {
    let problem = match fields::number(node) {
        None if matches!(node, Node::Float(_) | Node::Int(_)) => "must be an integer".to_owned(),
        None => "is not a number".to_owned(),
        Some(number) => match range_fault(number, 0..=MOST_RETRIES) {
            Some(problem) => problem,
            None => return u8::try_from(number).ok(),
        },
    };
    report.attribute(path, attribute, &problem);
    None
}

fn ensure_known(report: &mut Report, path: &Path<'_>, reasons: &[String], node: &Node) {
    let unknown: Vec<&str> =
        reasons.iter().map(String::as_str).filter(|word| !REASONS.contains(word)).collect();
    if unknown.is_empty() {
        return;
    }
    let problem = match node.as_text() {
        Some(_) => "is not included in the list".to_owned(),
        None => format!("contains unknown values: {}", unknown.join(", ")),
    };
    report.attribute(path, "when", &problem);
}
