//! Numbers that count within a project or group: 1, 2, 3, and none of them twice.

use db::{Tx, each_backend, error, schema::sequences};
use diesel::prelude::*;
use kernel::Result;

use crate::Home;

/// The next number of its kind.
pub(crate) fn next(tx: &mut Tx<'_>, home: Home, kind: &'static str) -> Result<i64> {
    let (place, id) = home.key();
    let first = (
        sequences::home.eq(place),
        sequences::home_id.eq(id),
        sequences::kind.eq(kind),
        sequences::last.eq(1_i64),
    );
    each_backend!(tx, |conn| diesel::insert_into(sequences::table)
        .values(first)
        .on_conflict((sequences::home, sequences::home_id, sequences::kind))
        .do_update()
        .set(sequences::last.eq(sequences::last + 1))
        .returning(sequences::last)
        .get_result(conn)
        .map_err(error("Number")))
}

/// Waits for whoever takes a number, and lets nobody take one before this transaction ends.
pub(crate) fn wait(tx: &mut Tx<'_>, home: Home, kind: &'static str) -> Result<()> {
    let (place, id) = home.key();
    let row = diesel::update(sequences::table.find((place, id, kind)))
        .set(sequences::last.eq(sequences::last));
    each_backend!(tx, |conn| row.execute(conn).map_err(error("Number")))?;
    Ok(())
}

/// Lets numbers go on after this one, which somebody chose.
pub(crate) fn reach(tx: &mut Tx<'_>, home: Home, kind: &'static str, number: i64) -> Result<()> {
    let (place, id) = home.key();
    let first = (
        sequences::home.eq(place),
        sequences::home_id.eq(id),
        sequences::kind.eq(kind),
        sequences::last.eq(number),
    );
    let known = sequences::table.find((place, id, kind)).filter(sequences::last.lt(number));
    each_backend!(tx, |conn| {
        diesel::insert_into(sequences::table)
            .values(first)
            .on_conflict_do_nothing()
            .execute(conn)
            .map_err(error("Number"))?;
        diesel::update(known).set(sequences::last.eq(number)).execute(conn).map_err(error("Number"))
    })?;
    Ok(())
}
