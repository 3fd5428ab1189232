//! Reading and keeping the settings.

use db::{
    Tx, each_backend, error,
    schema::{instance_settings, users},
};
use diesel::prelude::*;
use kernel::{Error, Result, Ts};

use super::Settings;

/// The one row.
const ROW: i64 = 1;

impl Settings {
    /// From the text that the row keeps; as they are at first where there is none.
    pub(crate) fn stored(text: Option<&str>) -> Result<Self> {
        text.map_or_else(
            || Ok(Self::default()),
            |text| serde_json::from_str(text).map_err(Error::internal),
        )
    }
}

pub trait SettingsStore {
    fn settings(&mut self) -> Result<Settings>;
    /// When the first user came, and when the settings were last changed.
    fn settings_times(&mut self) -> Result<(Ts, Ts)>;
    fn store_settings(&mut self, settings: &Settings) -> Result<()>;
}

impl SettingsStore for Tx<'_> {
    fn settings(&mut self) -> Result<Settings> {
        let row = instance_settings::table.find(ROW).select(instance_settings::settings);
        let stored: Option<String> =
            each_backend!(self, |conn| row.get_result(conn).optional().map_err(error("Settings")))?;
        Settings::stored(stored.as_deref())
    }

    fn settings_times(&mut self) -> Result<(Ts, Ts)> {
        let first = users::table.order(users::id).select(users::created_at);
        let first: Option<Ts> =
            each_backend!(self, |conn| first.first(conn).optional().map_err(error("User")))?;
        let row = instance_settings::table.find(ROW).select(instance_settings::updated_at);
        let changed: Option<Ts> =
            each_backend!(self, |conn| row.get_result(conn).optional().map_err(error("Settings")))?;
        let first = first.unwrap_or(self.now);
        Ok((first, changed.unwrap_or(first)))
    }

    fn store_settings(&mut self, settings: &Settings) -> Result<()> {
        let text = serde_json::to_string(settings).map_err(Error::internal)?;
        let kept =
            (instance_settings::settings.eq(text), instance_settings::updated_at.eq(self.now));
        let row = (instance_settings::id.eq(ROW), kept.clone());
        let upsert = diesel::insert_into(instance_settings::table)
            .values(row)
            .on_conflict(instance_settings::id)
            .do_update()
            .set(kept);
        each_backend!(self, |conn| upsert.execute(conn).map_err(error("Settings")))?;
        Ok(())
    }
}
