//! Alert settings of a project.

use db::{Tx, each_backend, error, schema::alert_settings as settings};
use diesel::prelude::*;
use kernel::{Result, ids::ProjectId};

const NOUN: &str = "Alert settings";

#[derive(Clone, Debug, PartialEq, Eq, Queryable, Selectable)]
#[diesel(table_name = settings, check_for_backend(db::AnyBackend))]
pub struct AlertSettings {
    /// Whether a new alert opens an incident.
    pub create_issue: bool,
    /// Whether maintainers and owners get a letter.
    pub send_email: bool,
    /// Whether an incident is closed once its alert is resolved.
    pub auto_close_incident: bool,
    /// The template of an issue, by its name, whose text an incident ends with.
    pub issue_template_key: Option<String>,
}

impl Default for AlertSettings {
    fn default() -> Self {
        Self {
            create_issue: false,
            send_email: false,
            auto_close_incident: true,
            issue_template_key: None,
        }
    }
}

pub trait SettingsStore {
    fn alert_settings(&mut self, project: ProjectId) -> Result<AlertSettings>;
    fn save_alert_settings(&mut self, project: ProjectId, new: &AlertSettings) -> Result<()>;
}

impl SettingsStore for Tx<'_> {
    fn alert_settings(&mut self, project: ProjectId) -> Result<AlertSettings> {
        let row: Option<AlertSettings> = each_backend!(self, |conn| settings::table
            .find(project)
            .select(AlertSettings::as_select())
            .get_result(conn)
            .optional()
            .map_err(error(NOUN)))?;
        Ok(row.unwrap_or_default())
    }

    fn save_alert_settings(&mut self, project: ProjectId, new: &AlertSettings) -> Result<()> {
        let values = (
            settings::create_issue.eq(new.create_issue),
            settings::send_email.eq(new.send_email),
            settings::auto_close_incident.eq(new.auto_close_incident),
            settings::issue_template_key.eq(&new.issue_template_key),
        );
        let upsert = diesel::insert_into(settings::table)
            .values((settings::project_id.eq(project), values))
            .on_conflict(settings::project_id)
            .do_update()
            .set(values);
        each_backend!(self, |conn| upsert.execute(conn).map_err(error(NOUN)))?;
        Ok(())
    }
}
