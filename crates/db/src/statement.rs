//! Statements written as text. Those that come again keep their prepared form, since a long list's statement takes
//! longer to be parsed than its page takes to be found.

use std::{
    collections::{HashMap, hash_map::DefaultHasher},
    hash::{Hash, Hasher},
    sync::{LazyLock, Mutex, PoisonError},
    time::{Duration, Instant},
};

use diesel::{
    QueryResult, RunQueryDsl,
    backend::Backend,
    query_builder::{AstPass, Query, QueryFragment, QueryId},
    serialize::ToSql,
    sql_types::{BigInt, HasSqlType, Text, Untyped},
};

use crate::listing::Bind;

/// A text in which `$1`, `$2`, … stand for values, and `$(5)` for the number in it (see
/// [`value`](crate::listing::value)).
pub(crate) struct Statement<'s> {
    parts: Vec<Part<'s>>,
    /// Whether the connection keeps the prepared form.
    is_kept: bool,
}

#[derive(Debug, PartialEq)]
enum Part<'s> {
    Text(&'s str),
    Number(i64),
    Word(&'s str),
    /// A place without a value.
    Missing(usize),
}

impl<'s> Statement<'s> {
    pub(crate) fn new(sql: &'s str, binds: &'s [Bind]) -> Self {
        let parts = parts(sql, binds);
        let is_kept = sql.len() <= StatementCachePolicy::LONGEST && FAMILIAR.admits(&parts);
        Self { parts, is_kept }
    }
}

fn parts<'s>(sql: &'s str, binds: &'s [Bind]) -> Vec<Part<'s>> {
    let mut pieces = sql.split('$');
    let mut parts = vec![Part::Text(pieces.next().unwrap_or_default())];
    for piece in pieces {
        if let Some((number, rest)) = in_place(piece) {
            parts.extend([Part::Number(number), Part::Text(rest)]);
            continue;
        }
        let digits = piece.bytes().take_while(u8::is_ascii_digit).count();
        let (number, rest) = piece.split_at(digits);
        let place = number.parse::<usize>().unwrap_or_default();
        parts.push(match place.checked_sub(1).and_then(|index| binds.get(index)) {
            Some(Bind::Number(number)) => Part::Number(*number),
            Some(Bind::Word(word)) => Part::Word(word),
            None => Part::Missing(place),
        });
        parts.push(Part::Text(rest));
    }
    parts
}

/// The number of `(5) and the rest`, and the rest.
fn in_place(piece: &str) -> Option<(i64, &str)> {
    let (number, rest) = piece.strip_prefix('(')?.split_once(')')?;
    Some((number.parse().ok()?, rest))
}

impl<DB> QueryFragment<DB> for Statement<'_>
where
    DB: Backend + HasSqlType<BigInt> + HasSqlType<Text>,
    i64: ToSql<BigInt, DB>,
    str: ToSql<Text, DB>,
{
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, DB>) -> QueryResult<()> {
        if !self.is_kept {
            out.unsafe_to_cache_prepared();
        }
        for part in &self.parts {
            match part {
                Part::Text(text) => out.push_sql(text),
                Part::Number(number) => out.push_bind_param::<BigInt, i64>(number)?,
                Part::Word(word) => out.push_bind_param::<Text, str>(word)?,
                Part::Missing(place) => {
                    let cause = format!("no value for ${place}");
                    return Err(diesel::result::Error::QueryBuilderError(cause.into()));
                }
            }
        }
        Ok(())
    }
}

impl QueryId for Statement<'_> {
    type QueryId = ();
    const HAS_STATIC_QUERY_ID: bool = false;
}

impl Query for Statement<'_> {
    type SqlType = Untyped;
}

impl<Conn> RunQueryDsl<Conn> for Statement<'_> {}

/// Which texts come again. Each is known by its hash: a false friend costs one prepared statement and nothing else.
struct StatementCachePolicy(Mutex<StatementCounts>);

struct StatementCounts {
    since: Instant,
    admitted: usize,
    times: HashMap<u64, u8>,
}

static FAMILIAR: LazyLock<StatementCachePolicy> = LazyLock::new(|| {
    StatementCachePolicy(Mutex::new(StatementCounts {
        since: Instant::now(),
        admitted: 0,
        times: HashMap::new(),
    }))
});

impl StatementCachePolicy {
    /// A text that came so often is kept.
    const OFTEN: u8 = 3;
    /// So many are kept in one term: each takes some ten kilobytes of each connection.
    const MOST: usize = 256;
    /// What is longer takes more room than it saves time.
    const LONGEST: usize = 4096;
    /// So many are counted at a time.
    const COUNTED: usize = 8192;
    /// Counters reset as often as pooled connections are recycled, because prepared statements die with them.
    const TERM: Duration = Duration::from_secs(30 * 60);

    fn admits(&self, parts: &[Part<'_>]) -> bool {
        let mut hasher = DefaultHasher::new();
        for part in parts {
            match part {
                Part::Text(text) => text.hash(&mut hasher),
                Part::Number(_) => 'n'.hash(&mut hasher),
                Part::Word(_) => 'w'.hash(&mut hasher),
                Part::Missing(_) => return false,
            }
        }
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .admits(hasher.finish(), Instant::now())
    }
}

impl StatementCounts {
    fn admits(&mut self, text: u64, now: Instant) -> bool {
        if now.saturating_duration_since(self.since) > StatementCachePolicy::TERM {
            *self = Self { since: now, admitted: 0, times: HashMap::new() };
        }
        if self.times.len() >= StatementCachePolicy::COUNTED {
            self.times.retain(|_, times| *times >= StatementCachePolicy::OFTEN);
        }
        let times = self.times.entry(text).or_default();
        if *times >= StatementCachePolicy::OFTEN {
            return true;
        }
        if *times + 1 == StatementCachePolicy::OFTEN && self.admitted >= StatementCachePolicy::MOST
        {
            return false;
        }
        *times += 1;
        if *times == StatementCachePolicy::OFTEN {
            self.admitted += 1;
        }
        *times == StatementCachePolicy::OFTEN
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nothing_known() -> StatementCounts {
        StatementCounts { since: Instant::now(), admitted: 0, times: HashMap::new() }
    }

    #[test]
    fn values_are_taken_out_of_a_text() {
        let binds = [Bind::Word("a".to_owned()), Bind::Number(7)];
        let found = parts("x = $2 AND y = $(-3) AND z = $1", &binds);
        let wanted = [
            Part::Text("x = "),
            Part::Number(7),
            Part::Text(" AND y = "),
            Part::Number(-3),
            Part::Text(" AND z = "),
            Part::Word("a"),
            Part::Text(""),
        ];
        assert_eq!(found, wanted);
        assert_eq!(parts("$3", &binds)[1], Part::Missing(3));
    }

    #[test]
    fn a_text_is_kept_from_its_third_time_on() {
        let mut known = nothing_known();
        let now = known.since;
        let answers: Vec<bool> = (0..5).map(|_| known.admits(7, now)).collect();
        assert_eq!(answers, [false, false, true, true, true]);
    }

    #[test]
    fn no_more_texts_are_kept_in_a_term_than_a_connection_has_room_for() {
        let mut known = nothing_known();
        let now = known.since;
        let texts = u64::try_from(StatementCachePolicy::MOST).unwrap_or_default() + 10;
        for _ in 0..4 {
            for text in 0..texts {
                known.admits(text, now);
            }
        }
        assert_eq!(
            (0..texts).filter(|text| known.admits(*text, now)).count(),
            StatementCachePolicy::MOST
        );
        let later = now + StatementCachePolicy::TERM + Duration::from_secs(1);
        assert!(!known.admits(3, later));
    }

    #[test]
    fn texts_that_never_come_again_are_forgotten() {
        let mut known = nothing_known();
        let now = known.since;
        for text in 0..100_000 {
            known.admits(text, now);
        }
        assert!(known.times.len() <= StatementCachePolicy::COUNTED);
    }
}
