//! Numbers that count within a project or group: 1, 2, 3, and none of them twice.

use std::collections::HashMap;

use db::{Tx, each_backend, error, schema::sequences};
use diesel::{prelude::*, sql_types::BigInt};
use kernel::{Result, ids::ProjectId};

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

#[derive(QueryableByName)]
struct LastNumber {
    #[diesel(sql_type = BigInt)]
    home_id: i64,
    #[diesel(sql_type = BigInt)]
    last: i64,
}

/// Takes some numbers in each of these projects; the answer has the last of them.
pub(crate) fn take_in_projects(
    tx: &mut Tx<'_>,
    kind: &'static str,
    counts: &[(ProjectId, i64)],
) -> Result<HashMap<ProjectId, i64>> {
    if counts.is_empty() {
        return Ok(HashMap::new());
    }
    let row = |(project, count): &(ProjectId, i64)| {
        format!("('{}', {project}, '{kind}', {count})", Home::Project(*project).key().0)
    };
    let rows: Vec<String> = counts.iter().map(row).collect();
    let text = format!(
        "INSERT INTO sequences (home, home_id, kind, last) VALUES {} \
         ON CONFLICT (home, home_id, kind) DO UPDATE SET last = sequences.last + excluded.last \
         RETURNING home_id, last",
        rows.join(", ")
    );
    let found: Vec<LastNumber> =
        each_backend!(tx, |conn| diesel::sql_query(&text).load(conn).map_err(error("Number")))?;
    Ok(found.into_iter().map(|row| (ProjectId(row.home_id), row.last)).collect())
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
