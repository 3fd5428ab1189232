//! Environments and freeze periods in project archives.

use db::archive::{Column, Relation};
use kernel::TextEnum as _;

use super::{EnvironmentState, Tier, is_name, is_slug, rules::is_address};

pub static RELATIONS: &[&Relation] = &[&ENVIRONMENTS, &FREEZE_PERIODS];

const CREATED: Column = Column::moment("created_at");
const UPDATED: Column = Column::moment("updated_at");

static ENVIRONMENTS: Relation = Relation {
    name: "environments",
    table: "environments",
    scope: "project_id = $1",
    key: &["id"],
    columns: &[
        Column::home("project_id"),
        Column::choice("name", is_name),
        Column::choice("slug", is_slug),
        Column::choice("external_url", is_address).optional(),
        Column::choice("tier", |word| Tier::find(word).is_some()),
        Column::choice("state", |word| EnvironmentState::find(word).is_some()),
        Column::moment("auto_stop_at").optional(),
        Column::moment("auto_delete_at").optional(),
        CREATED,
        UPDATED,
    ],
    signed: None,
};

static FREEZE_PERIODS: Relation = Relation {
    name: "freeze_periods",
    table: "freeze_periods",
    scope: "project_id = $1",
    key: &["id"],
    columns: &[
        Column::home("project_id"),
        Column::line("freeze_start"),
        Column::line("freeze_end"),
        Column::line("cron_timezone"),
        CREATED,
        UPDATED,
    ],
    signed: None,
};
