//! Alerts, with their notes, the people who look after them, and pictures.

use db::{
    Tx,
    archive::{Column, Field, LAST_NUMBER, Relation, is_one_of},
    each_backend, error,
    schema::{alert_numbers as numbers, alerts},
};
use diesel::{dsl::max, prelude::*};
use kernel::{Result, ids::ProjectId};

use super::choices::is_list_of;
use crate::{
    alert::{AlertSeverity, AlertStatus, NoteKind, Payload},
    metric_image::{is_image_text, is_image_url},
};

/// Characters of the longest URL of a runbook.
const LONGEST_URL: usize = 2_048;
/// Bytes of a payload as it is kept: numbers become longer than they were sent.
const LONGEST_PAYLOAD: usize = 4 << 20;

pub(super) static ALERTS: Relation = Relation {
    name: "alerts",
    table: "alerts",
    scope: "project_id = $1",
    key: &["id"],
    columns: &[
        Column::home("project_id"),
        Column::number("iid", 1, LAST_NUMBER),
        Column::line("title"),
        Column::text("description").optional(),
        Column::line("service").optional(),
        Column::line("monitoring_tool").optional(),
        Column::choice("hosts", is_list_of::<String>),
        Column::choice("severity", is_one_of::<AlertSeverity>),
        Column::choice("status", is_one_of::<AlertStatus>),
        Column::moment("started_at"),
        Column::moment("ended_at").optional(),
        Column::count("events"),
        Column::line("fingerprint").optional(),
        Column::line("environment").optional(),
        Column::row("environment_id", "environments").optional(),
        Column::new("runbook", Field::Text(LONGEST_URL)).optional(),
        Column::flag("is_prometheus"),
        Column::choice("payload", is_payload),
        Column::row("issue_id", "issues").optional(),
        Column::moment("created_at"),
        Column::moment("updated_at"),
    ],
    signed: None,
};

pub(super) static NOTES: Relation = Relation {
    name: "alert_notes",
    table: "alert_notes",
    scope: "alert_id IN (SELECT alerts.id FROM alerts WHERE alerts.project_id = $1)",
    key: &["id"],
    columns: &[
        Column::row("alert_id", "alerts"),
        // Nobody where the installation itself did it.
        Column::author("author_id").optional(),
        Column::choice("kind", is_one_of::<NoteKind>),
        Column::text("body"),
        Column::moment("created_at"),
    ],
    signed: Some("body"),
};

pub(super) static ASSIGNEES: Relation = Relation {
    name: "alert_assignees",
    table: "alert_assignees",
    scope: "alert_id IN (SELECT alerts.id FROM alerts WHERE alerts.project_id = $1)",
    key: &["alert_id", "user_id"],
    columns: &[Column::row("alert_id", "alerts"), Column::person("user_id")],
    signed: None,
};

/// The files are among the uploads of an archive. Secret, name and size become those of the file in the copy.
pub(super) static METRIC_IMAGES: Relation = Relation {
    name: "alert_metric_images",
    table: "alert_metric_images",
    scope: "alert_id IN (SELECT alerts.id FROM alerts WHERE alerts.project_id = $1)",
    key: &["id"],
    columns: &[
        Column::row("alert_id", "alerts"),
        Column::line("secret"),
        Column::line("filename"),
        Column::count("bytes"),
        Column::choice("url", is_image_url).optional(),
        Column::choice("url_text", is_image_text).optional(),
        Column::moment("created_at"),
        Column::moment("updated_at"),
    ],
    signed: None,
};

pub(super) static SETTINGS: Relation = Relation {
    name: "alert_settings",
    table: "alert_settings",
    scope: "project_id = $1",
    key: &["project_id"],
    columns: &[
        Column::home("project_id"),
        Column::flag("create_issue"),
        Column::flag("send_email"),
        Column::flag("auto_close_incident"),
        Column::text("issue_template_key").optional(),
    ],
    signed: None,
};

fn is_payload(text: &str) -> bool {
    let is_in_bounds = !text.trim().is_empty() && text.len() <= LONGEST_PAYLOAD;
    is_in_bounds && Payload::read(text.as_bytes()).is_some()
}

/// Lets numbers of alerts go on after those that are taken.
///
/// # Errors
/// When the database cannot be written.
pub fn restore_counters(tx: &mut Tx<'_>, project: ProjectId) -> Result<()> {
    let own = alerts::table.filter(alerts::project_id.eq(project));
    let last = own.select(max(alerts::iid));
    let last: Option<i64> =
        each_backend!(tx, |conn| last.get_result(conn).map_err(error("Alert")))?;
    last.map_or(Ok(()), |last| reserve_numbers(tx, project, last))
}

/// Lets alerts that are made from now on have later numbers than this one.
///
/// # Errors
/// When the database cannot be written.
pub fn reserve_numbers(tx: &mut Tx<'_>, project: ProjectId, last: i64) -> Result<()> {
    each_backend!(tx, |conn| diesel::insert_into(numbers::table)
        .values((numbers::project_id.eq(project), numbers::last.eq(last)))
        .on_conflict_do_nothing()
        .execute(conn)
        .map_err(error("Alert")))?;
    let earlier = numbers::project_id.eq(project).and(numbers::last.lt(last));
    let reach = diesel::update(numbers::table.filter(earlier)).set(numbers::last.eq(last));
    each_backend!(tx, |conn| reach.execute(conn).map_err(error("Alert")))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::is_payload;

    #[test]
    fn a_payload_is_an_object_that_can_be_shown_again() {
        assert!(is_payload("{}") && is_payload("{\"title\":\"a\"}"));
        let long = format!("{{\"a\":\"{}\"}}", "x".repeat(4 << 20));
        for odd in ["", " ", "\u{c}", "[]", "{\"a\":\"\\u0000\"}", &long] {
            assert!(!is_payload(odd), "{}", odd.len());
        }
    }
}
