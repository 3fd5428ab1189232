//! The appearance in the database: one row.

use db::{Conn, Tx, each_backend, error, schema::appearances};
use diesel::{prelude::*, sql_query};
use kernel::{Error, Result};

use super::Appearance;

const ROW: i64 = 1;
const NOUN: &str = "Appearance";
/// Arbitrary, and nobody else's.
const LOCK: i64 = 4_207_002;

pub trait AppearanceStore {
    fn appearance(&mut self) -> Result<Appearance>;
    /// Lets nobody else change the appearance before this transaction ends.
    fn lock_appearance(&mut self) -> Result<()>;
    fn save_appearance(&mut self, appearance: &Appearance) -> Result<()>;
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

    fn lock_appearance(&mut self) -> Result<()> {
        match &mut self.conn {
            // There is one writer.
            Conn::Sqlite(_) => {}
            Conn::Postgres(conn) => {
                let lock = sql_query(format!("SELECT pg_advisory_xact_lock({LOCK})"));
                lock.execute(*conn).map_err(error(NOUN))?;
            }
        }
        Ok(())
    }

    fn save_appearance(&mut self, appearance: &Appearance) -> Result<()> {
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
