//! Links between issues in the database.

use std::collections::HashMap;

use db::{
    OneOf as _, Tx, each_backend, error,
    schema::{issue_links as links, issues},
};
use diesel::prelude::*;
use kernel::{Result, Ts, ids::IssueId};

use super::LinkType;
use crate::{issue::IssueState, item::hold};

#[derive(Clone, Debug, Queryable, Selectable)]
#[diesel(table_name = db::schema::issue_links, check_for_backend(db::AnyBackend))]
pub struct IssueLink {
    pub id: i64,
    pub source_id: IssueId,
    pub target_id: IssueId,
    pub link_type: LinkType,
    pub created_at: Ts,
    pub updated_at: Ts,
}

pub trait LinkStore {
    /// Every link of an issue, whichever end it is; the newest first.
    fn links_of(&mut self, issue: IssueId) -> Result<Vec<IssueLink>>;
    /// A link by its id, if the issue is one of its ends.
    fn find_link(&mut self, issue: IssueId, id: i64) -> Result<Option<IssueLink>>;
    fn find_link_between(&mut self, one: IssueId, other: IssueId) -> Result<Option<IssueLink>>;
    fn insert_link(
        &mut self,
        source: IssueId,
        target: IssueId,
        link_type: LinkType,
    ) -> Result<IssueLink>;
    fn delete_link(&mut self, id: i64) -> Result<()>;
    /// Makes the links of an issue those of another one that has none.
    fn reassign_links(&mut self, from: IssueId, to: IssueId) -> Result<()>;
    /// Counts anew how many open issues wait for this one.
    fn count_blocked(&mut self, issue: IssueId) -> Result<()>;
    /// The issues that this one waits for.
    fn blockers_of(&mut self, issue: IssueId) -> Result<Vec<IssueId>>;
    /// The open issues that each of these waits for, in the order of the links.
    fn open_blockers_of(&mut self, issues: &[IssueId]) -> Result<HashMap<IssueId, Vec<IssueId>>>;
}

impl LinkStore for Tx<'_> {
    fn links_of(&mut self, issue: IssueId) -> Result<Vec<IssueLink>> {
        each_backend!(self, |conn| links::table
            .filter(links::source_id.eq(issue).or(links::target_id.eq(issue)))
            .order(links::id.desc())
            .select(IssueLink::as_select())
            .load(conn)
            .map_err(error("Issue Link")))
    }

    fn find_link(&mut self, issue: IssueId, id: i64) -> Result<Option<IssueLink>> {
        each_backend!(self, |conn| links::table
            .find(id)
            .filter(links::source_id.eq(issue).or(links::target_id.eq(issue)))
            .select(IssueLink::as_select())
            .first(conn)
            .optional()
            .map_err(error("Issue Link")))
    }

    fn find_link_between(&mut self, one: IssueId, other: IssueId) -> Result<Option<IssueLink>> {
        let there = links::source_id.eq(one).and(links::target_id.eq(other));
        let back = links::source_id.eq(other).and(links::target_id.eq(one));
        each_backend!(self, |conn| links::table
            .filter(there.or(back))
            .select(IssueLink::as_select())
            .first(conn)
            .optional()
            .map_err(error("Issue Link")))
    }

    fn insert_link(
        &mut self,
        source: IssueId,
        target: IssueId,
        link_type: LinkType,
    ) -> Result<IssueLink> {
        let row = (
            links::source_id.eq(source),
            links::target_id.eq(target),
            links::link_type.eq(link_type),
            links::created_at.eq(self.now),
            links::updated_at.eq(self.now),
        );
        each_backend!(self, |conn| diesel::insert_into(links::table)
            .values(row)
            .returning(IssueLink::as_returning())
            .get_result(conn)
            .map_err(error("Issue Link")))
    }

    fn delete_link(&mut self, id: i64) -> Result<()> {
        let row = diesel::delete(links::table.find(id));
        each_backend!(self, |conn| row.execute(conn).map_err(error("Issue Link")))?;
        Ok(())
    }

    fn reassign_links(&mut self, from: IssueId, to: IssueId) -> Result<()> {
        let rows = diesel::update(links::table.filter(links::source_id.eq(from)));
        let rows = rows.set(links::source_id.eq(to));
        each_backend!(self, |conn| rows.execute(conn).map_err(error("Issue Link")))?;
        let rows = diesel::update(links::table.filter(links::target_id.eq(from)));
        let rows = rows.set(links::target_id.eq(to));
        each_backend!(self, |conn| rows.execute(conn).map_err(error("Issue Link")))?;
        Ok(())
    }

    fn count_blocked(&mut self, issue: IssueId) -> Result<()> {
        hold(self, issue.into())?;
        let waiting = links::table
            .inner_join(issues::table.on(issues::id.eq(links::target_id)))
            .filter(links::source_id.eq(issue).and(links::link_type.eq(LinkType::Blocks)))
            .filter(issues::state.eq(IssueState::Opened))
            .count();
        let waiting: i64 =
            each_backend!(self, |conn| waiting.get_result(conn).map_err(error("Issue Link")))?;
        let row = diesel::update(issues::table.find(issue))
            .set(issues::blocking_issues_count.eq(waiting));
        each_backend!(self, |conn| row.execute(conn).map_err(error("Issue")))?;
        Ok(())
    }

    fn blockers_of(&mut self, issue: IssueId) -> Result<Vec<IssueId>> {
        each_backend!(self, |conn| links::table
            .filter(links::target_id.eq(issue).and(links::link_type.eq(LinkType::Blocks)))
            .select(links::source_id)
            .load(conn)
            .map_err(error("Issue Link")))
    }

    fn open_blockers_of(&mut self, issues: &[IssueId]) -> Result<HashMap<IssueId, Vec<IssueId>>> {
        let open = links::table
            .inner_join(issues::table.on(issues::id.eq(links::source_id)))
            .filter(links::target_id.one_of(issues).and(links::link_type.eq(LinkType::Blocks)))
            .filter(issues::state.eq(IssueState::Opened))
            .order(links::id)
            .select((links::target_id, links::source_id));
        let rows: Vec<(IssueId, IssueId)> =
            each_backend!(self, |conn| open.load(conn).map_err(error("Issue Link")))?;
        let mut all: HashMap<IssueId, Vec<IssueId>> = HashMap::new();
        for (issue, blocker) in rows {
            all.entry(issue).or_default().push(blocker);
        }
        Ok(all)
    }
}
