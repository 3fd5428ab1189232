//! Features in the database: a row for each gate.

use db::{Conn, Tx, each_backend, error, schema::feature_gates as gates};
use diesel::{prelude::*, sql_query};
use kernel::Result;

use super::{Feature, Gate};

const NOUN: &str = "Feature";
/// Arbitrary, and nobody else's.
const LOCK: i64 = 4_207_003;

pub trait FeatureStore {
    /// All, by name; there are at most [`MOST`](super::actions::MOST).
    fn features(&mut self) -> Result<Vec<Feature>>;
    fn feature(&mut self, name: &str) -> Result<Option<Feature>>;
    /// Lets nobody else change features before this transaction ends.
    fn lock_features(&mut self) -> Result<()>;
    fn save_feature(&mut self, feature: &Feature) -> Result<()>;
    fn delete_feature(&mut self, name: &str) -> Result<()>;
}

impl FeatureStore for Tx<'_> {
    fn features(&mut self) -> Result<Vec<Feature>> {
        let rows = gates::table.order((gates::name, gates::id));
        let rows: Vec<(String, Gate, String)> = each_backend!(self, |conn| rows
            .select((gates::name, gates::gate, gates::value))
            .load(conn)
            .map_err(error(NOUN)))?;
        let mut features: Vec<(String, Vec<(Gate, String)>)> = Vec::new();
        for (name, gate, value) in rows {
            match features.last_mut() {
                Some((last, gates)) if *last == name => gates.push((gate, value)),
                _ => features.push((name, vec![(gate, value)])),
            }
        }
        let features = features.into_iter().map(|(name, gates)| Feature::of_gates(name, gates));
        Ok(features.collect())
    }

    fn feature(&mut self, name: &str) -> Result<Option<Feature>> {
        let rows = gates::table.filter(gates::name.eq(name)).order(gates::id);
        let rows: Vec<(Gate, String)> = each_backend!(self, |conn| rows
            .select((gates::gate, gates::value))
            .load(conn)
            .map_err(error(NOUN)))?;
        Ok((!rows.is_empty()).then(|| Feature::of_gates(name.to_owned(), rows)))
    }

    fn lock_features(&mut self) -> Result<()> {
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

    fn save_feature(&mut self, feature: &Feature) -> Result<()> {
        self.delete_feature(&feature.name)?;
        let rows: Vec<_> = feature
            .gates()
            .into_iter()
            .map(|(gate, value)| {
                (gates::name.eq(&feature.name), gates::gate.eq(gate), gates::value.eq(value))
            })
            .collect();
        for row in rows {
            let insert = diesel::insert_into(gates::table).values(row);
            each_backend!(self, |conn| insert.execute(conn).map_err(error(NOUN)))?;
        }
        Ok(())
    }

    fn delete_feature(&mut self, name: &str) -> Result<()> {
        let delete = diesel::delete(gates::table.filter(gates::name.eq(name)));
        each_backend!(self, |conn| delete.execute(conn).map_err(error(NOUN)))?;
        Ok(())
    }
}
