//! Iterations in the database.

use std::collections::HashMap;

use db::{
    OneOf as _, Tx, each_backend, error,
    schema::{issues, iteration_cadences as cadences, iterations},
};
use diesel::prelude::*;
use kernel::{Result, ids::NamespaceId};

use super::{Cadence, Iteration, actions::NewIteration};
use crate::{Home, sequence};

pub trait IterationStore {
    fn find_cadence(&mut self, group: NamespaceId, id: i64) -> Result<Option<Cadence>>;
    fn cadence(&mut self, id: i64) -> Result<Option<Cadence>>;
    /// Cadences of whatever group, in no order.
    fn cadences_by_id(&mut self, ids: &[i64]) -> Result<Vec<Cadence>>;
    /// The cadences of these groups, oldest first.
    fn cadences_of(&mut self, groups: &[NamespaceId]) -> Result<Vec<Cadence>>;
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

    fn cadence(&mut self, id: i64) -> Result<Option<Cadence>> {
        each_backend!(self, |conn| cadences::table
            .find(id)
            .select(Cadence::as_select())
            .get_result(conn)
            .optional()
            .map_err(error("Cadence")))
    }

    fn cadences_by_id(&mut self, ids: &[i64]) -> Result<Vec<Cadence>> {
        each_backend!(self, |conn| cadences::table
            .filter(cadences::id.one_of(ids))
            .select(Cadence::as_select())
            .load(conn)
            .map_err(error("Cadence")))
    }

    fn cadences_of(&mut self, groups: &[NamespaceId]) -> Result<Vec<Cadence>> {
        each_backend!(self, |conn| cadences::table
            .filter(cadences::namespace_id.one_of(groups))
            .order(cadences::id)
            .select(Cadence::as_select())
            .load(conn)
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
            .filter(iterations::id.one_of(ids))
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

pub(super) fn save_cadence_title(tx: &mut Tx<'_>, id: i64, title: &str) -> Result<Cadence> {
    let row = (cadences::title.eq(title), cadences::updated_at.eq(tx.now));
    each_backend!(tx, |conn| diesel::update(cadences::table.find(id))
        .set(row)
        .returning(Cadence::as_returning())
        .get_result(conn)
        .map_err(error("Cadence")))
}

pub(super) fn delete_cadence(tx: &mut Tx<'_>, id: i64) -> Result<()> {
    let row = diesel::delete(cadences::table.find(id));
    each_backend!(tx, |conn| row.execute(conn).map_err(error("Cadence")))?;
    Ok(())
}

/// Keeps a changed iteration, at its new place in its cadence.
pub(super) fn keep(
    tx: &mut Tx<'_>,
    old: &Iteration,
    new: &NewIteration,
    place: i64,
) -> Result<Iteration> {
    close_gap(tx, old)?;
    let later = iterations::table
        .filter(iterations::cadence_id.eq(old.cadence_id).and(iterations::sequence.ge(place)))
        .filter(iterations::id.ne(old.id));
    let later = diesel::update(later).set(iterations::sequence.eq(iterations::sequence + 1));
    each_backend!(tx, |conn| later.execute(conn).map_err(error("Iteration")))?;
    let row = (
        iterations::sequence.eq(place),
        iterations::title.eq(&new.title),
        iterations::description.eq(&new.description),
        iterations::start_date.eq(new.start_date),
        iterations::due_date.eq(new.due_date),
        iterations::updated_at.eq(tx.now),
    );
    each_backend!(tx, |conn| diesel::update(iterations::table.find(old.id))
        .set(row)
        .returning(Iteration::as_returning())
        .get_result(conn)
        .map_err(error("Iteration")))
}

/// An iteration goes; its issues are in none then.
pub(super) fn delete(tx: &mut Tx<'_>, iteration: &Iteration) -> Result<()> {
    let inside = issues::table.filter(issues::iteration_id.eq(iteration.id));
    let inside = diesel::update(inside).set(issues::iteration_id.eq(None::<i64>));
    each_backend!(tx, |conn| inside.execute(conn).map_err(error("Issue")))?;
    let row = diesel::delete(iterations::table.find(iteration.id));
    each_backend!(tx, |conn| row.execute(conn).map_err(error("Iteration")))?;
    close_gap(tx, iteration)
}

/// Those behind an iteration move up.
fn close_gap(tx: &mut Tx<'_>, iteration: &Iteration) -> Result<()> {
    let behind = iterations::table
        .filter(iterations::cadence_id.eq(iteration.cadence_id))
        .filter(iterations::sequence.gt(iteration.sequence));
    let behind = diesel::update(behind).set(iterations::sequence.eq(iterations::sequence - 1));
    each_backend!(tx, |conn| behind.execute(conn).map_err(error("Iteration")))?;
    Ok(())
}
