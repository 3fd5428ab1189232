//! Pipeline schedules in project archives. Their variables are secrets and are left out.

use db::archive::{Column, Field, Relation};
use kernel::Faults;

use super::{Timing, rules::LONGEST};

pub static RELATIONS: &[&Relation] = &[&SCHEDULES];

static SCHEDULES: Relation = Relation {
    name: "pipeline_schedules",
    table: "pipeline_schedules",
    scope: "project_id = $1",
    key: &["id"],
    columns: &[
        Column::home("project_id"),
        // Whoever imports answers for what runs.
        Column::author("owner_id"),
        Column::text("description"),
        Column::new("ref_name", Field::Text(LONGEST)),
        Column::choice("cron", is_cron),
        Column::choice("cron_timezone", is_zone),
        Column::moment("next_run_at").optional(),
        Column::flag("active"),
        Column::moment("created_at"),
        Column::moment("updated_at"),
    ],
    signed: None,
};

fn is_cron(text: &str) -> bool {
    Timing::read(text, "UTC", &mut Faults::default()).is_some()
}

fn is_zone(text: &str) -> bool {
    Timing::read("0 0 * * *", text, &mut Faults::default()).is_some()
}
