//! An installation of one's own for each test, a small HTTP client, and git.

mod git;
mod http;
mod installation;

use std::path::{Path, PathBuf};

use db::{Tx, each_backend};
use diesel::{Connection as _, RunQueryDsl, connection::SimpleConnection, sql_types::BigInt};

pub(crate) use git::{Git, as_ada};
pub(crate) use http::{Connection, Reply};
pub(crate) use installation::{Installation, Server, eventually, is_private};

/// The administrator's token, in every installation whose test does not say otherwise.
pub(crate) const TOKEN: &str = "token-of-the-tests-0123456789";
pub(crate) const PASSWORD: &str = "password of the tests";

/// Takes a table away from a SQLite database, under the feet of whoever uses it.
pub(crate) fn break_table(file: &Path, table: &str) {
    let mut conn = diesel::SqliteConnection::establish(&file.to_string_lossy()).expect("opens");
    conn.batch_execute("PRAGMA busy_timeout = 60000").expect("it may wait");
    conn.batch_execute(&format!("ALTER TABLE {table} RENAME TO {table}_gone")).expect("renames");
}

/// The folders of all bare repositories of a data folder.
pub(crate) fn repositories(data: &Path) -> Vec<PathBuf> {
    fn collect_files(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            match path.extension().is_some_and(|end| end == "git") {
                true => found.push(path),
                false => collect_files(&path, found),
            }
        }
    }
    let mut found = Vec::new();
    collect_files(&data.join("repositories"), &mut found);
    found
}

#[derive(diesel::QueryableByName)]
struct CountRow {
    #[diesel(sql_type = BigInt)]
    number: i64,
}

/// What a query that counts says about an installation's database.
pub(crate) fn rows(forge: &Installation, query: &str) -> i64 {
    let db = db::Database::open(&forge.location(), Default::default()).expect("the database opens");
    let counted = |tx: &mut Tx<'_>| -> kernel::Result<CountRow> {
        each_backend!(tx, |conn| diesel::sql_query(query)
            .get_result(conn)
            .map_err(db::error("Row")))
    };
    db.read_blocking(counted).expect("the rows are counted").number
}
