//! Versions of merge requests: the commits after each push to the source.

use db::{Tx, each_backend, error, schema::merge_request_versions as versions};
use diesel::prelude::*;
use kernel::{
    Result, Ts,
    ids::{MergeRequestId, MergeRequestVersionId, UserId},
    page::{COUNT_LIMIT, Page, PageRequest, Total},
};

use super::{Columns, Event, MergeRequest, MergeRequestStore};

/// More files than this are not told one by one.
pub const MOST_FILES: i64 = 1000;

kernel::text_enum! {
    pub enum VersionState {
        Collected = "collected",
        /// The source has nothing that the target lacks.
        Empty = "empty",
        /// More than is shown.
        Overflow = "overflow",
        WithoutFiles = "without_files",
    }
}

#[derive(Clone, Debug, Queryable, Selectable)]
#[diesel(table_name = versions, check_for_backend(db::AnyBackend))]
pub struct Version {
    pub id: MergeRequestVersionId,
    pub merge_request_id: MergeRequestId,
    pub head_commit_sha: String,
    /// Where the source left the target.
    pub base_commit_sha: String,
    /// Where the target was.
    pub start_commit_sha: String,
    pub state: VersionState,
    /// Files changed.
    pub real_size: i64,
    pub created_at: Ts,
}

/// The head, base and start commits of a merge request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Heads {
    /// Where the source branch is; `None` where it is not there.
    pub head: Option<String>,
    /// Where the target branch is; `None` where it is not there.
    pub start: Option<String>,
    /// The newest commit that both have; where there is none, that of the target.
    pub base: Option<String>,
    /// Files changed between base and head.
    pub files: i64,
}

impl Heads {
    pub(super) fn state(&self) -> VersionState {
        if self.files > MOST_FILES {
            VersionState::Overflow
        } else if self.head == self.base {
            VersionState::Empty
        } else {
            VersionState::Collected
        }
    }
}

/// Makes this what a merge request holds. Where it holds this already, nothing changes; the answer says whether.
/// `opener` is set for what somebody opens in this moment.
pub fn add(
    tx: &mut Tx<'_>,
    merge_request: &MergeRequest,
    heads: &Heads,
    opener: Option<UserId>,
) -> Result<bool> {
    let same = merge_request.head_sha == heads.head
        && merge_request.start_sha == heads.start
        && merge_request.base_sha == heads.base;
    if same {
        return Ok(false);
    }
    let mut columns = Columns {
        head_sha: Some(heads.head.clone()),
        base_sha: Some(None),
        start_sha: Some(None),
        changes_count: Some(None),
        ..Columns::default()
    };
    if let (Some(head), Some(start), Some(base)) = (&heads.head, &heads.start, &heads.base) {
        let row = (
            versions::merge_request_id.eq(merge_request.id),
            versions::head_commit_sha.eq(head),
            versions::base_commit_sha.eq(base),
            versions::start_commit_sha.eq(start),
            versions::state.eq(heads.state()),
            versions::real_size.eq(heads.files),
            versions::created_at.eq(tx.now),
        );
        let row = diesel::insert_into(versions::table).values(row);
        each_backend!(tx, |conn| row.execute(conn).map_err(error("Version")))?;
        columns.base_sha = Some(heads.base.clone());
        columns.start_sha = Some(heads.start.clone());
        columns.changes_count = Some(Some(heads.files));
    }
    tx.change_merge_request(merge_request.id, &columns)?;
    tx.emit(Event::Moved {
        merge_request: merge_request.id,
        project: merge_request.project_id,
        head: heads.head.clone(),
        opener,
    })?;
    Ok(true)
}

pub trait VersionStore {
    /// The versions of a merge request, newest first.
    fn versions(&mut self, of: MergeRequestId, page: PageRequest) -> Result<Page<Version>>;
    fn find_version(
        &mut self,
        of: MergeRequestId,
        id: MergeRequestVersionId,
    ) -> Result<Option<Version>>;
    fn newest_version(&mut self, of: MergeRequestId) -> Result<Option<MergeRequestVersionId>>;
    /// The commits that sources were at, the newest first, each once.
    fn version_heads(&mut self, of: MergeRequestId) -> Result<Vec<String>>;
}

impl VersionStore for Tx<'_> {
    fn versions(&mut self, of: MergeRequestId, page: PageRequest) -> Result<Page<Version>> {
        let all = versions::table.filter(versions::merge_request_id.eq(of));
        let (items, total) = each_backend!(self, |conn| {
            let items = all
                .order(versions::id.desc())
                .limit(page.per_page)
                .offset(page.offset())
                .select(Version::as_select())
                .load(conn)
                .map_err(error("Version"))?;
            let count = db::CountOf(all.select(versions::id).limit(COUNT_LIMIT + 1));
            let total: i64 = count.get_result(conn).map_err(error("Version"))?;
            (items, total)
        });
        Ok(Page { items, total: Total::Counted(total) })
    }

    fn find_version(
        &mut self,
        of: MergeRequestId,
        id: MergeRequestVersionId,
    ) -> Result<Option<Version>> {
        each_backend!(self, |conn| versions::table
            .find(id)
            .filter(versions::merge_request_id.eq(of))
            .select(Version::as_select())
            .first(conn)
            .optional()
            .map_err(error("Version")))
    }

    fn newest_version(&mut self, of: MergeRequestId) -> Result<Option<MergeRequestVersionId>> {
        let newest = versions::table
            .filter(versions::merge_request_id.eq(of))
            .order(versions::id.desc())
            .select(versions::id);
        each_backend!(self, |conn| newest.first(conn).optional().map_err(error("Version")))
    }

    fn version_heads(&mut self, of: MergeRequestId) -> Result<Vec<String>> {
        let query = versions::table
            .filter(versions::merge_request_id.eq(of))
            .order(versions::id.desc())
            .select(versions::head_commit_sha);
        let mut heads: Vec<String> =
            each_backend!(self, |conn| query.load(conn).map_err(error("Version")))?;
        heads.dedup();
        Ok(heads)
    }
}

#[cfg(test)]
mod tests {
    use super::{Heads, VersionState};

    #[test]
    fn the_state_tells_how_much_there_is() {
        let heads = |base: &str, files| Heads {
            head: Some("b".to_owned()),
            start: Some("a".to_owned()),
            base: Some(base.to_owned()),
            files,
        };
        for (heads, state) in [
            (heads("a", 3), VersionState::Collected),
            (heads("a", 0), VersionState::Collected),
            (heads("b", 0), VersionState::Empty),
            (heads("a", 1000), VersionState::Collected),
            (heads("a", 1001), VersionState::Overflow),
        ] {
            assert_eq!(heads.state(), state, "{heads:?}");
        }
    }
}
