//! Queries that are compiled once and run on either database.

use diesel::prelude::*;
use forgeway_db::{
    OneOf as _, Tx, each_backend, error,
    schema::{outbox, stamps},
    stamp::keep,
    testing::transaction,
};
use kernel::Result;

fn four_stamps(tx: &mut Tx<'_>) -> Result<()> {
    ["a", "b", "c", "d"].into_iter().zip(1..).try_for_each(|(name, at)| keep(tx, name, at))
}

macro_rules! subjects {
    ($tx:ident, $filter:expr) => {{
        let rows = stamps::table
            .filter(stamps::subject.one_of(&["a", "b", "c", "d"]))
            .filter($filter)
            .order(stamps::subject)
            .select(stamps::subject);
        each_backend!($tx, |conn| rows.load::<String>(conn).map_err(error("Record")))?.concat()
    }};
}

#[test]
fn a_list_holds_what_is_compared_with_it() {
    transaction(|tx| {
        four_stamps(tx)?;
        let none = Vec::<i64>::new();
        assert_eq!(subjects!(tx, stamps::stamp.eq_any([1_i64, 3])), "ac");
        assert_eq!(subjects!(tx, stamps::stamp.ne_all([1_i64, 3])), "bd");
        assert_eq!(subjects!(tx, stamps::stamp.eq_any(none.clone())), "");
        assert_eq!(subjects!(tx, stamps::stamp.ne_all(none)), "abcd");
        let others = diesel::alias!(stamps as others);
        let stamp = others.field(stamps::stamp);
        let high = others.filter(stamp.gt(2)).select(stamp);
        assert_eq!(subjects!(tx, stamps::stamp.eq_any(high)), "cd");
        assert_eq!(subjects!(tx, stamps::stamp.ne_all(high)), "ab");
        let many: Vec<i64> = (4..400).collect();
        assert_eq!(subjects!(tx, stamps::stamp.one_of(&many)), "d");
        Ok(())
    });
}

/// Connections know prepared statements by the types of queries, and here all queries have one type for them.
#[test]
fn queries_that_take_turns_keep_their_own_statements() {
    transaction(|tx| {
        four_stamps(tx)?;
        for (name, at) in ["a", "b", "c", "d"].into_iter().zip(1_i64..) {
            assert_eq!(subjects!(tx, stamps::stamp.eq(at)), name);
            assert!(!subjects!(tx, stamps::stamp.ne(at)).contains(name));
            let found = stamps::table.find(name).select(stamps::stamp);
            let found: i64 =
                each_backend!(tx, |conn| found.get_result(conn).map_err(error("Record")))?;
            assert_eq!(found, at);
        }
        Ok(())
    });
}

#[test]
fn rows_are_passed_over_with_and_without_a_limit() {
    transaction(|tx| {
        four_stamps(tx)?;
        let mut page = |limit: Option<i64>, offset: Option<i64>| {
            let rows = stamps::table.filter(stamps::stamp.between(1, 4)).order(stamps::stamp);
            let mut rows = rows.select(stamps::stamp).into_boxed();
            if let Some(limit) = limit {
                rows = rows.limit(limit);
            }
            if let Some(offset) = offset {
                rows = rows.offset(offset);
            }
            each_backend!(tx, |conn| rows.load::<i64>(conn).map_err(error("Record")))
        };
        assert_eq!(page(None, None)?, [1, 2, 3, 4]);
        assert_eq!(page(None, Some(3))?, [4]);
        assert_eq!(page(Some(2), Some(1))?, [2, 3]);
        Ok(())
    });
}

#[test]
fn a_column_without_a_value_is_null() {
    transaction(|tx| {
        let row = |kind: &'static str, project: Option<i64>| {
            let project = project.map(|project| outbox::project_id.eq(project));
            (
                outbox::kind.eq(kind),
                project,
                outbox::payload.eq("{}"),
                outbox::created_at.eq(tx.now),
            )
        };
        let rows = vec![row("first", Some(7)), row("second", None)];
        let insert = diesel::insert_into(outbox::table).values(rows).returning(outbox::kind);
        let written: Vec<String> =
            each_backend!(tx, |conn| insert.get_results(conn).map_err(error("Event")))?;
        assert_eq!(written, ["first", "second"]);
        let found = outbox::table.order(outbox::kind).select(outbox::project_id);
        let found: Vec<Option<i64>> =
            each_backend!(tx, |conn| found.load(conn).map_err(error("Event")))?;
        assert_eq!(found, [Some(7), None]);
        Ok(())
    });
}
