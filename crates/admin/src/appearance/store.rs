//! The appearance in the database: one row.

use db::{Tx, each_backend, error, schema::appearances};
use diesel::prelude::*;
use kernel::{Error, Result};

use super::Appearance;

const ROW: i64 = 1;
const NOUN: &str = "Appearance";

pub trait AppearanceStore {
    fn appearance(&mut self) -> Result<Appearance>;
    fn keep_appearance(&mut self, appearance: &Appearance) -> Result<()>;
}

impl AppearanceStore for Tx<'_> {
    fn appearance(&mut self) -> Result<Appearance> {
        let row = appearances::table.find(ROW).select(appearances::appearance);
        let stored: Option<String> =
            each_backend!(self, |conn| row.get_result(conn).optional().map_err(error(NOUN)))?;
        match stored {
            None => Ok(Appearance::default()),
            Some(text) => serde_json::from_str(&text).map_err(Error::internal),
        }
    }

    fn keep_appearance(&mut self, appearance: &Appearance) -> Result<()> {
        let text = serde_json::to_string(appearance).map_err(Error::internal)?;
        let kept = (appearances::appearance.eq(text), appearances::updated_at.eq(self.now));
        let upsert = diesel::insert_into(appearances::table)
            .values((appearances::id.eq(ROW), kept.clone()))
            .on_conflict(appearances::id)
            .do_update()
            .set(kept);
        each_backend!(self, |conn| upsert.execute(conn).map_err(error(NOUN)))?;
        Ok(())
    }
}
