//! Statuses of pipelines, stages and jobs for display, with what the caller can do about them.

use ci::{
    Status,
    config::When,
    job::{Job, JobKind},
};
use entities::ci::pipeline::DetailedStatusEntity;
use graphql::Value;

/// Something that can be done with a job.
struct Action {
    name: &'static str,
    icon: &'static str,
    title: &'static str,
    button: &'static str,
}

const CANCEL: Action =
    Action { name: "cancel", icon: "cancel", title: "Cancel", button: "Cancel this job" };
const PLAY: Action =
    Action { name: "play", icon: "play", title: "Play", button: "Trigger this manual action" };
const RETRY: Action =
    Action { name: "retry", icon: "retry", title: "Retry", button: "Retry this job" };
const STOP: Action =
    Action { name: "play", icon: "stop", title: "Stop", button: "Stop this environment" };
const UNSCHEDULE: Action =
    Action { name: "unschedule", icon: "time-out", title: "Unschedule", button: "Unschedule job" };

/// A status without an action. `id` is that of the pipeline or stage.
pub(super) fn value(entity: DetailedStatusEntity, id: i64) -> Value {
    with_action(entity, id, Value::Null)
}

fn with_action(entity: DetailedStatusEntity, id: i64, action: Value) -> Value {
    Value::fields(
        "DetailedStatus",
        [
            ("action", action),
            ("id", format!("{}-{id}-{id}", entity.group).into()),
            ("detailsPath", entity.details_path.into()),
            ("favicon", entity.favicon.into()),
            ("group", entity.group.into()),
            ("hasDetails", entity.has_details.into()),
            ("icon", entity.icon.into()),
            ("label", entity.label.into()),
            ("text", entity.text.into()),
            ("tooltip", entity.tooltip.into()),
        ],
    )
}

/// The facts that a job's status display needs.
pub(super) struct JobView<'j> {
    pub job: &'j Job,
    /// Path of the page of the job.
    pub page: String,
    /// Whether the caller may change the job.
    pub may_change: bool,
    /// Whether the job stops an environment.
    pub stops: bool,
}

/// The status of a job.
pub(super) fn of_job(view: &JobView<'_>) -> Value {
    let job = view.job;
    let allowed_failure = job.status == Status::Failed && job.allow_failure;
    let plain = DetailedStatusEntity::of(job.status, false, view.page.clone());
    let action = action(view).filter(|_| view.may_change && job.kind != JobKind::External);
    let (icon, group) = match allowed_failure {
        true => ("status_warning", "failed-with-warnings"),
        false => (plain.icon, plain.group),
    };
    let text = match job.status {
        Status::Manual => "manual",
        _ => plain.text,
    };
    let label = label(view, plain.label, allowed_failure);
    let tooltip = tooltip(job, text, allowed_failure);
    let id = job.id.0;
    Value::fields(
        "DetailedStatus",
        [
            ("action", action.map_or(Value::Null, |action| action_value(&action, view, group))),
            ("id", format!("{group}-{id}-{id}").into()),
            ("detailsPath", plain.details_path.into()),
            ("favicon", plain.favicon.into()),
            ("group", group.into()),
            ("hasDetails", true.into()),
            ("icon", icon.into()),
            ("label", label.into()),
            ("text", text.into()),
            ("tooltip", tooltip.into()),
        ],
    )
}

fn action(view: &JobView<'_>) -> Option<Action> {
    let job = view.job;
    match job.status {
        Status::Scheduled => Some(UNSCHEDULE),
        _ if job.is_playable() && view.stops => Some(STOP),
        Status::Manual if job.is_playable() => Some(PLAY),
        status if status.is_cancelable() => Some(CANCEL),
        _ if job.is_retryable() => Some(RETRY),
        _ => None,
    }
}

fn action_value(action: &Action, view: &JobView<'_>, group: &str) -> Value {
    let id = format!("Ci::BuildPresenter-{group}-{}-{}", view.job.id, action.name);
    Value::fields(
        "StatusAction",
        [
            ("buttonTitle", action.button.into()),
            ("confirmationMessage", Value::Null),
            ("icon", action.icon.into()),
            ("id", id.into()),
            ("method", "post".into()),
            ("path", format!("{}/{}", view.page, action.name).into()),
            ("title", action.title.into()),
        ],
    )
}

fn label(view: &JobView<'_>, plain: &str, allowed_failure: bool) -> String {
    let job = view.job;
    let waits = matches!(job.status, Status::Manual | Status::Scheduled);
    let label = match (job.status, job.run_when) {
        _ if allowed_failure => "failed (allowed to fail)",
        (Status::Scheduled, _) => "unschedule action",
        (_, When::Manual) if view.stops && waits => "manual stop action",
        (Status::Manual, _) => "manual play action",
        _ => plain,
    };
    match waits && !view.may_change {
        true => format!("{label} (not allowed)"),
        false => label.to_owned(),
    }
}

fn tooltip(job: &Job, text: &str, allowed_failure: bool) -> String {
    let reason = job.failure_reason.as_deref().filter(|_| job.status == Status::Failed);
    let reason = reason.unwrap_or("unknown failure").replace('_', " ");
    let mut tooltip = match job.status {
        Status::Failed => format!("{text} - ({reason})"),
        _ => text.to_owned(),
    };
    if allowed_failure {
        tooltip.push_str(" (allowed to fail)");
    }
    if job.retried {
        tooltip.push_str(" (retried)");
    }
    tooltip
}
