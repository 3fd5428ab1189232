//! Iterations in the database.

use std::collections::HashMap;

use db::{
    Tx, each_backend, error,
    schema::{iteration_cadences as cadences, iterations},
};
use diesel::prelude::*;
use kernel::{Result, ids::NamespaceId};

use super::{Cadence, Iteration, actions::NewIteration};
use crate::{Home, sequence};

pub trait IterationStore {
    fn find_cadence(&mut self, group: NamespaceId, id: i64) -> Result<Option<Cadence>>;
    /// In the order of their days.
    fn iterations_of(&mut self, cadence: i64) -> Result<Vec<Iteration>>;
    /// Iterations of whatever group, in the order of their ids here; what is gone is left out.
    fn iterations_in_order(&mut self, ids: &[i64]) -> Result<Vec<Iteration>>;
}

impl IterationStore for Tx<'_> {
    fn find_cadence(&mut self, group: NamespaceId, id: i64) -> Result<Option<Cadence>> {
        let found = cadences::table.find(id).filter(cadences::namespace_id.eq(group));
        each_backend!(self, |conn| found
            .select(Cadence::as_select())
            .get_result(conn)
            .optional()
            .map_err(error("Cadence")))
    }

    fn iterations_of(&mut self, cadence: i64) -> Result<Vec<Iteration>> {
        let rows = iterations::table
            .filter(iterations::cadence_id.eq(cadence))
            .order((iterations::start_date, iterations::id));
        each_backend!(self, |conn| rows
            .select(Iteration::as_select())
            .load(conn)
            .map_err(error("Iteration")))
    }

    fn iterations_in_order(&mut self, ids: &[i64]) -> Result<Vec<Iteration>> {
        let rows: Vec<Iteration> = each_backend!(self, |conn| iterations::table
            .filter(iterations::id.eq_any(ids))
            .select(Iteration::as_select())
            .load(conn)
            .map_err(error("Iteration")))?;
        let mut rows: HashMap<i64, Iteration> = rows.into_iter().map(|row| (row.id, row)).collect();
        Ok(ids.iter().filter_map(|id| rows.remove(id)).collect())
    }
}

pub(super) fn insert_cadence(tx: &mut Tx<'_>, group: NamespaceId, title: &str) -> Result<Cadence> {
    let row = (
        cadences::namespace_id.eq(group),
        cadences::title.eq(title),
        cadences::created_at.eq(tx.now),
        cadences::updated_at.eq(tx.now),
    );
    each_backend!(tx, |conn| diesel::insert_into(cadences::table)
        .values(row)
        .returning(Cadence::as_returning())
        .get_result(conn)
        .map_err(error("Cadence")))
}

pub(super) fn insert(
    tx: &mut Tx<'_>,
    cadence: &Cadence,
    new: &NewIteration,
    place: i64,
) -> Result<Iteration> {
    let iid = sequence::next(tx, Home::Group(cadence.namespace_id), "iteration")?;
    let later = iterations::table
        .filter(iterations::cadence_id.eq(cadence.id).and(iterations::sequence.ge(place)));
    let later = diesel::update(later).set(iterations::sequence.eq(iterations::sequence + 1));
    each_backend!(tx, |conn| later.execute(conn).map_err(error("Iteration")))?;
    let row = (
        iterations::iid.eq(iid),
        iterations::namespace_id.eq(cadence.namespace_id),
        iterations::cadence_id.eq(cadence.id),
        iterations::sequence.eq(place),
        iterations::title.eq(&new.title),
        iterations::description.eq(&new.description),
        iterations::start_date.eq(new.start_date),
        iterations::due_date.eq(new.due_date),
        iterations::created_at.eq(tx.now),
        iterations::updated_at.eq(tx.now),
    );
    each_backend!(tx, |conn| diesel::insert_into(iterations::table)
        .values(row)
        .returning(Iteration::as_returning())
        .get_result(conn)
        .map_err(error("Iteration")))
}
