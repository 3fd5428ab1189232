//! One sum for all refs of a repository: the exclusive or of a hash of each ref and the object that it names. A move
//! takes the old hash out and puts the new one in, whatever else the repository holds.

use std::{fmt, ops::BitXor};

use diesel::prelude::*;
use kernel::{
    Error, Result, Ts,
    ids::{NamespaceId, ProjectId},
};

use super::ChecksumCount;
use crate::{
    Tx, each_backend, error,
    listing::{Bind, ids, rows},
    schema::ref_checksums,
};

/// The owner of refs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RefHolder {
    Repository(ProjectId),
    ProjectWiki(ProjectId),
    GroupWiki(NamespaceId),
}

impl fmt::Display for RefHolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Repository(project) => write!(f, "repository-{project}"),
            Self::ProjectWiki(project) => write!(f, "wiki-project-{project}"),
            Self::GroupWiki(group) => write!(f, "wiki-group-{group}"),
        }
    }
}

impl RefHolder {
    /// Reads what [`Display`](fmt::Display) writes.
    pub fn parse(text: &str) -> Option<Self> {
        let (kind, id) = text.rsplit_once('-')?;
        let id = id.parse().ok().filter(|id| *id > 0)?;
        let place = match kind {
            "repository" => Self::Repository(ProjectId(id)),
            "wiki-project" => Self::ProjectWiki(ProjectId(id)),
            "wiki-group" => Self::GroupWiki(NamespaceId(id)),
            _ => return None,
        };
        (place.to_string() == text).then_some(place)
    }

    fn kind(self) -> &'static str {
        match self {
            Self::Repository(_) => REPOSITORY,
            Self::ProjectWiki(_) | Self::GroupWiki(_) => WIKI,
        }
    }

    /// The column of its owner, and that one's id.
    fn owner(self) -> (&'static str, i64) {
        match self {
            Self::Repository(project) | Self::ProjectWiki(project) => ("project_id", project.0),
            Self::GroupWiki(group) => ("namespace_id", group.0),
        }
    }
}

/// The kinds of places, as rows name them.
pub const REPOSITORY: &str = "repository";
pub const WIKI: &str = "wiki";
/// Under which kind the wikis of groups are counted.
pub const GROUP_WIKI: &str = "group_wiki";

/// A hash of 256 bits, or the exclusive or of several. Of no refs it is zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RefSum([i64; 4]);

impl RefSum {
    pub fn of_digest(digest: [u8; 32]) -> Self {
        let mut parts = [0; 4];
        for (part, bytes) in parts.iter_mut().zip(digest.as_chunks::<8>().0) {
            *part = i64::from_be_bytes(*bytes);
        }
        Self(parts)
    }

    pub fn is_zero(self) -> bool {
        self == Self::default()
    }
}

impl BitXor for RefSum {
    type Output = Self;

    fn bitxor(self, other: Self) -> Self {
        let ([a, b, c, d], [e, f, g, h]) = (self.0, other.0);
        Self([a ^ e, b ^ f, c ^ g, d ^ h])
    }
}

impl fmt::Display for RefSum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|part| write!(f, "{part:016x}"))
    }
}

/// The stored checksum of a repository's refs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefChecksum {
    pub place: RefHolder,
    pub sum: RefSum,
    /// How often refs were moved since the row is there: as long as it stays the same, nothing was decided.
    pub moves: i64,
    /// Whether the sum is of all refs.
    pub counted: bool,
    pub checked_at: Option<Ts>,
    pub failure: Option<String>,
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = ref_checksums, check_for_backend(crate::AnyBackend))]
struct ChecksumRow {
    kind: String,
    project_id: Option<ProjectId>,
    namespace_id: Option<NamespaceId>,
    sum_1: i64,
    sum_2: i64,
    sum_3: i64,
    sum_4: i64,
    moves: i64,
    counted: bool,
    checked_at: Option<Ts>,
    failure: Option<String>,
}

impl ChecksumRow {
    fn checksum(self) -> Result<RefChecksum> {
        let place = match (self.kind.as_str(), self.project_id, self.namespace_id) {
            (REPOSITORY, Some(project), _) => RefHolder::Repository(project),
            (WIKI, Some(project), _) => RefHolder::ProjectWiki(project),
            (WIKI, None, Some(group)) => RefHolder::GroupWiki(group),
            (kind, ..) => return Err(Error::internal(format!("a checksum of a {kind}"))),
        };
        let Self { sum_1, sum_2, sum_3, sum_4, moves, counted, checked_at, failure, .. } = self;
        let sum = RefSum([sum_1, sum_2, sum_3, sum_4]);
        Ok(RefChecksum { place, sum, moves, counted, checked_at, failure })
    }
}

/// Takes a move of refs into the sum of their repository: `delta` is the exclusive or of what goes and what comes. One
/// statement, in the transaction that decides the move. A sum that nobody kept before is of all refs only once they
/// were counted.
///
/// # Errors
/// When the database cannot be written.
pub fn toggle(tx: &mut Tx<'_>, place: RefHolder, delta: RefSum) -> Result<()> {
    let (column, owner) = place.owner();
    // Neither database has an exclusive or of its own for both: a ^ b = (a | b) - (a & b), which cannot overflow.
    let part = |number: u8| {
        let (kept, new) = (format!("ref_checksums.sum_{number}"), format!("excluded.sum_{number}"));
        format!("sum_{number} = ({kept} | {new}) - ({kept} & {new})")
    };
    let parts = [1, 2, 3, 4].map(part).join(", ");
    let sql = format!(
        "INSERT INTO ref_checksums \
           (place, kind, {column}, sum_1, sum_2, sum_3, sum_4, moves, counted, check_at) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, 1, FALSE, $8) \
         ON CONFLICT (place) DO UPDATE SET {parts}, moves = ref_checksums.moves + 1 \
         RETURNING moves AS id"
    );
    let words = [place.to_string(), place.kind().to_owned()].map(Bind::Word);
    let numbers = [owner].into_iter().chain(delta.0).chain([tx.now.0]).map(Bind::Number);
    let binds: Vec<Bind> = words.into_iter().chain(numbers).collect();
    ids(tx, &sql, &binds).map(drop)
}

/// Begins the sum of a repository that is made in this transaction, and has no refs yet.
///
/// # Errors
/// When the database cannot be written.
pub fn begin(tx: &mut Tx<'_>, project: ProjectId, check_at: Ts) -> Result<()> {
    let place = RefHolder::Repository(project);
    let row = (
        ref_checksums::place.eq(place.to_string()),
        ref_checksums::kind.eq(place.kind()),
        ref_checksums::project_id.eq(project),
        (ref_checksums::sum_1.eq(0), ref_checksums::sum_2.eq(0)),
        (ref_checksums::sum_3.eq(0), ref_checksums::sum_4.eq(0)),
        ref_checksums::moves.eq(0),
        ref_checksums::counted.eq(true),
        ref_checksums::check_at.eq(check_at),
    );
    let insert = diesel::insert_into(ref_checksums::table).values(row);
    each_backend!(tx, |conn| insert
        .on_conflict(ref_checksums::place)
        .do_nothing()
        .execute(conn)
        .map_err(error("Record")))?;
    Ok(())
}

/// Has the refs of a repository counted anew: they came in another way than by moves that were decided one by one.
///
/// # Errors
/// When the database cannot be written.
pub fn recount(tx: &mut Tx<'_>, place: RefHolder) -> Result<()> {
    let row = ref_checksums::table.find(place.to_string());
    let stale = (ref_checksums::counted.eq(false), ref_checksums::check_at.eq(tx.now));
    each_backend!(tx, |conn| diesel::update(row)
        .set(stale)
        .execute(conn)
        .map_err(error("Record")))?;
    Ok(())
}

/// As [`recount`], for every repository.
///
/// # Errors
/// When the database cannot be written.
pub fn recount_all(tx: &mut Tx<'_>) -> Result<()> {
    let stale = (ref_checksums::counted.eq(false), ref_checksums::check_at.eq(tx.now));
    each_backend!(tx, |conn| diesel::update(ref_checksums::table)
        .set(stale)
        .execute(conn)
        .map_err(error("Record")))?;
    Ok(())
}

/// What is kept of a repository.
///
/// # Errors
/// When the database cannot be read.
pub fn find(tx: &mut Tx<'_>, place: RefHolder) -> Result<Option<RefChecksum>> {
    let row = ref_checksums::table.find(place.to_string());
    let found: Option<ChecksumRow> = each_backend!(tx, |conn| row
        .select(ChecksumRow::as_select())
        .first(conn)
        .optional()
        .map_err(error("Record")))?;
    found.map(ChecksumRow::checksum).transpose()
}

/// The repositories whose check is due, at most so many, those first that have waited longest.
///
/// # Errors
/// When the database cannot be read.
pub fn due(tx: &mut Tx<'_>, most: i64) -> Result<Vec<RefHolder>> {
    let due = ref_checksums::table
        .filter(ref_checksums::check_at.le(tx.now))
        .order((ref_checksums::check_at, ref_checksums::place))
        .limit(most);
    let found: Vec<ChecksumRow> = each_backend!(tx, |conn| due
        .select(ChecksumRow::as_select())
        .load(conn)
        .map_err(error("Record")))?;
    found.into_iter().map(|row| Ok(row.checksum()?.place)).collect()
}

/// Lets repositories that would wait for longer be checked by then, at most so many; how many these were.
///
/// # Errors
/// When the database cannot be written.
pub fn hasten(tx: &mut Tx<'_>, latest: Ts, most: i64) -> Result<usize> {
    let sql = "UPDATE ref_checksums SET check_at = $1 WHERE place IN \
               (SELECT place FROM ref_checksums WHERE check_at > $2 ORDER BY check_at DESC LIMIT $3)";
    super::hasten(tx, sql, latest, most)
}

/// Notes that all refs were counted and add up to `sum`, unless a move was decided since there were `moves`. Whether it
/// was noted.
///
/// # Errors
/// When the database cannot be written.
pub fn note_sum(
    tx: &mut Tx<'_>,
    place: RefHolder,
    moves: i64,
    sum: RefSum,
    next: Ts,
) -> Result<bool> {
    let row = ref_checksums::table
        .filter(ref_checksums::place.eq(place.to_string()).and(ref_checksums::moves.eq(moves)));
    let RefSum([one, two, three, four]) = sum;
    let counted = (
        (ref_checksums::sum_1.eq(one), ref_checksums::sum_2.eq(two)),
        (ref_checksums::sum_3.eq(three), ref_checksums::sum_4.eq(four)),
        ref_checksums::counted.eq(true),
        ref_checksums::checked_at.eq(tx.now),
        ref_checksums::failure.eq(None::<String>),
        ref_checksums::check_at.eq(next),
    );
    let changed = each_backend!(tx, |conn| diesel::update(row)
        .set(counted)
        .execute(conn)
        .map_err(error("Record")))?;
    Ok(changed > 0)
}

/// Notes why a check failed. The sum stays as it is.
///
/// # Errors
/// When the database cannot be written.
pub fn note_failure(tx: &mut Tx<'_>, place: RefHolder, reason: &str, next: Ts) -> Result<()> {
    let row = ref_checksums::table.find(place.to_string());
    let failed = (
        ref_checksums::checked_at.eq(tx.now),
        ref_checksums::failure.eq(reason),
        ref_checksums::check_at.eq(next),
    );
    each_backend!(tx, |conn| diesel::update(row)
        .set(failed)
        .execute(conn)
        .map_err(error("Record")))?;
    Ok(())
}

/// Lets a repository wait for its next check without a result.
///
/// # Errors
/// When the database cannot be written.
pub fn postpone(tx: &mut Tx<'_>, place: RefHolder, next: Ts) -> Result<()> {
    let row = ref_checksums::table.find(place.to_string());
    each_backend!(tx, |conn| diesel::update(row)
        .set(ref_checksums::check_at.eq(next))
        .execute(conn)
        .map_err(error("Record")))?;
    Ok(())
}

/// Forgets a repository that was never made.
///
/// # Errors
/// When the database cannot be written.
pub fn forget(tx: &mut Tx<'_>, place: RefHolder) -> Result<()> {
    let row = ref_checksums::table.find(place.to_string());
    each_backend!(tx, |conn| diesel::delete(row).execute(conn).map_err(error("Record")))?;
    Ok(())
}

/// How many repositories and wikis of projects and of groups there are, and of how many the sum is known.
///
/// # Errors
/// When the database cannot be read.
pub fn counts(tx: &mut Tx<'_>) -> Result<Vec<ChecksumCount>> {
    let sql = format!(
        "SELECT CASE WHEN namespace_id IS NULL THEN kind ELSE '{GROUP_WIKI}' END AS kind, COUNT(*) AS total, \
           COUNT(CASE WHEN counted AND failure IS NULL THEN 1 END) AS checksummed, \
           COUNT(failure) AS failed, COUNT(checked_at) AS checked \
         FROM ref_checksums GROUP BY 1"
    );
    rows(tx, &sql, &[])
}

#[cfg(test)]
mod tests {
    use kernel::ids::{NamespaceId, ProjectId};

    use super::{RefHolder, RefSum};

    #[test]
    fn a_place_is_read_as_it_is_written() {
        for place in [
            RefHolder::Repository(ProjectId(7)),
            RefHolder::ProjectWiki(ProjectId(8)),
            RefHolder::GroupWiki(NamespaceId(9)),
        ] {
            assert_eq!(RefHolder::parse(&place.to_string()), Some(place));
        }
        for odd in [
            "",
            "repository",
            "repository-",
            "repository-x",
            "repository-0",
            "repository-07",
            "wiki-1",
        ] {
            assert_eq!(RefHolder::parse(odd), None, "{odd:?}");
        }
    }

    #[test]
    fn a_sum_is_written_as_its_bytes_are() {
        let mut digest = [0_u8; 32];
        digest[0] = 0xff;
        digest[31] = 1;

        let sum = RefSum::of_digest(digest);

        assert_eq!(sum.to_string(), format!("ff{}01", "0".repeat(60)));
        assert!((sum ^ sum).is_zero());
    }
}
