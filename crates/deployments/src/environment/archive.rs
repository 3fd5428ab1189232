//! Environments and freeze periods in project archives.

use db::archive::{Column, Relation, is_one_of};
use kernel::TextEnum as _;

use super::{EnvironmentState, Tier, is_name, is_slug, rules::is_address};

pub static RELATIONS: &[&Relation] = &[&ENVIRONMENTS];

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
        Column::choice("tier", is_one_of::<Tier>),
        Column::word("state", state_of_copy),
        // Nothing stops or removes one by itself before somebody deploys to it: that would run a job of the archive.
        Column::fixed("auto_stop_at", "NULL"),
        Column::fixed("auto_delete_at", "NULL"),
        CREATED,
        UPDATED,
    ],
    signed: None,
};

/// The columns of [`freeze_periods`]. What a cron expression and a zone are is told by whoever reads them.
pub const fn freeze_period_columns(
    is_cron: fn(&str) -> bool,
    is_zone: fn(&str) -> bool,
) -> [Column; 6] {
    [
        Column::home("project_id"),
        Column::choice("freeze_start", is_cron),
        Column::choice("freeze_end", is_cron),
        Column::choice("cron_timezone", is_zone),
        CREATED,
        UPDATED,
    ]
}

pub const fn freeze_periods(columns: &'static [Column]) -> Relation {
    Relation {
        name: "freeze_periods",
        table: "freeze_periods",
        scope: "project_id = $1",
        key: &["id"],
        columns,
        signed: None,
    }
}

/// The job that was stopping one does not end here.
fn state_of_copy(word: &str) -> Option<&'static str> {
    let state = match EnvironmentState::find(word)? {
        EnvironmentState::Stopping => EnvironmentState::Available,
        state => state,
    };
    Some(state.as_str())
}

#[cfg(test)]
mod tests {
    use super::state_of_copy;

    #[test]
    fn what_was_being_stopped_is_available_in_a_copy() {
        for (word, copy) in [
            ("available", Some("available")),
            ("stopping", Some("available")),
            ("stopped", Some("stopped")),
            ("paused", None),
        ] {
            assert_eq!(state_of_copy(word), copy, "{word}");
        }
    }
}
