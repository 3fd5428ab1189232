//! PostgreSQL: a few connections for reads, more for writes, both used from blocking threads.

use std::sync::Arc;

use diesel::{PgConnection, QueryableByName, RunQueryDsl, sql_query, sql_types::Text};
use kernel::{Error, Result};

use crate::pool::{ConnectionPool, Lane, establish, with_limits};

/// Measured: few readers keep the slowest answers short, many writers share the server's group commit.
const READERS: usize = 4;
const WRITERS: usize = 16;

pub(crate) struct Postgres {
    pub(crate) readers: Lane,
    pub(crate) writers: Lane,
}

#[derive(QueryableByName)]
struct Setting {
    #[diesel(sql_type = Text)]
    lc_messages: String,
}

/// That two transactions waited for each other is told in words alone, and understood in English.
fn warn_of_language(conn: &mut PgConnection) -> Result<()> {
    let setting: Setting =
        sql_query("SHOW lc_messages").get_result(conn).map_err(Error::internal)?;
    let language = setting.lc_messages;
    if !["C", "POSIX", "en", ""]
        .iter()
        .any(|known| language.split(['_', '.']).next() == Some(known))
    {
        tracing::warn!(
            %language,
            "PostgreSQL speaks another language than English, so transactions that waited for each other fail instead of \
             being done again, and a full disk is a plain failure: ALTER DATABASE … SET lc_messages = 'C' mends that"
        );
    }
    Ok(())
}

impl Postgres {
    pub(crate) fn open(url: &str) -> Result<Self> {
        let mut conn = establish(&with_limits(url)).map_err(Error::internal)?;
        crate::migrations::run_postgres(&mut conn)?;
        warn_of_language(&mut conn)?;
        let pool = Arc::new(ConnectionPool::new(url));
        pool.adopt(conn)?;
        Ok(Self { readers: Lane::new(&pool, READERS), writers: Lane::new(&pool, WRITERS) })
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::Postgres;

    #[test]
    fn a_server_that_says_nothing_is_not_waited_for() {
        // It takes connections, and nobody ever reads from them.
        let silent = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = silent.local_addr().unwrap().port();
        let opened = Postgres::open(&format!("postgres://forgeway@127.0.0.1:{port}/forgeway"));
        assert!(opened.is_err());
    }
}
