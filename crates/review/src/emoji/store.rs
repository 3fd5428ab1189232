//! Reactions in the database.

use std::collections::HashMap;

use db::{
    CountOf, OneOf as _, Tx, each_backend, error,
    schema::{award_emoji, epics, issues, merge_requests},
};
use diesel::prelude::*;
use kernel::{
    Result, Ts,
    ids::{IssueId, MergeRequestId, ProjectId, UserId},
    page::{COUNT_LIMIT, Page, PageRequest, Total},
};

use super::{AwardTarget, AwardedKind};
use crate::item::{ItemId, ItemKind, hold};

#[derive(Clone, Debug, Queryable, Selectable)]
#[diesel(table_name = award_emoji, check_for_backend(db::AnyBackend))]
pub struct Award {
    pub id: i64,
    pub item_kind: AwardedKind,
    pub item_id: i64,
    pub user_id: UserId,
    /// Without colons.
    pub name: String,
    pub created_at: Ts,
    pub updated_at: Ts,
}

pub trait AwardStore {
    /// A page of the reactions to something, oldest first.
    fn awards(&mut self, of: AwardTarget, page: PageRequest) -> Result<Page<Award>>;
    /// All reactions to these, the oldest first.
    fn awards_of(&mut self, targets: &[AwardTarget]) -> Result<Vec<Award>>;
    fn find_award(&mut self, of: AwardTarget, id: i64) -> Result<Option<Award>>;
    fn find_award_of(&mut self, of: AwardTarget, user: UserId, name: &str)
    -> Result<Option<Award>>;
    fn insert_award(
        &mut self,
        of: AwardTarget,
        project: Option<ProjectId>,
        user: UserId,
        name: &str,
    ) -> Result<Award>;
    fn delete_award(&mut self, id: i64) -> Result<()>;
    fn delete_awards(&mut self, of: AwardTarget) -> Result<()>;
    /// Counts the thumbs of an issue, merge request or epic anew.
    fn count_votes(&mut self, of: AwardTarget) -> Result<()>;
}

impl AwardStore for Tx<'_> {
    fn awards(&mut self, of: AwardTarget, page: PageRequest) -> Result<Page<Award>> {
        let rows = award_emoji::table
            .filter(award_emoji::item_kind.eq(of.kind).and(award_emoji::item_id.eq(of.id)));
        let items = each_backend!(self, |conn| rows
            .order(award_emoji::id)
            .limit(page.per_page)
            .offset(page.offset())
            .select(Award::as_select())
            .load(conn)
            .map_err(error("Award Emoji")))?;
        let counted = CountOf(rows.select(award_emoji::id).limit(COUNT_LIMIT + 1));
        let total =
            each_backend!(self, |conn| counted.get_result(conn).map_err(error("Award Emoji")))?;
        Ok(Page { items, total: Total::Counted(total) })
    }

    fn awards_of(&mut self, targets: &[AwardTarget]) -> Result<Vec<Award>> {
        let mut kinds: HashMap<AwardedKind, Vec<i64>> = HashMap::new();
        for target in targets {
            kinds.entry(target.kind).or_default().push(target.id);
        }
        let mut all: Vec<Award> = Vec::new();
        for (kind, ids) in kinds {
            let rows = award_emoji::table
                .filter(award_emoji::item_kind.eq(kind).and(award_emoji::item_id.one_of(&ids)));
            let found: Vec<Award> = each_backend!(self, |conn| rows
                .order(award_emoji::id)
                .select(Award::as_select())
                .load(conn)
                .map_err(error("Award Emoji")))?;
            all.extend(found);
        }
        Ok(all)
    }

    fn find_award(&mut self, of: AwardTarget, id: i64) -> Result<Option<Award>> {
        let row = award_emoji::table
            .filter(award_emoji::item_kind.eq(of.kind).and(award_emoji::item_id.eq(of.id)))
            .filter(award_emoji::id.eq(id));
        each_backend!(self, |conn| row
            .select(Award::as_select())
            .get_result(conn)
            .optional()
            .map_err(error("Award Emoji")))
    }

    fn find_award_of(
        &mut self,
        of: AwardTarget,
        user: UserId,
        name: &str,
    ) -> Result<Option<Award>> {
        let row = award_emoji::table
            .filter(award_emoji::item_kind.eq(of.kind).and(award_emoji::item_id.eq(of.id)))
            .filter(award_emoji::user_id.eq(user).and(award_emoji::name.eq(name)));
        each_backend!(self, |conn| row
            .select(Award::as_select())
            .get_result(conn)
            .optional()
            .map_err(error("Award Emoji")))
    }

    fn insert_award(
        &mut self,
        of: AwardTarget,
        project: Option<ProjectId>,
        user: UserId,
        name: &str,
    ) -> Result<Award> {
        let row = (
            award_emoji::project_id.eq(project),
            award_emoji::item_kind.eq(of.kind),
            award_emoji::item_id.eq(of.id),
            award_emoji::user_id.eq(user),
            award_emoji::name.eq(name),
            award_emoji::created_at.eq(self.now),
            award_emoji::updated_at.eq(self.now),
        );
        let insert = diesel::insert_into(award_emoji::table).values(row);
        each_backend!(self, |conn| insert
            .returning(Award::as_returning())
            .get_result(conn)
            .map_err(error("Award Emoji")))
    }

    fn delete_award(&mut self, id: i64) -> Result<()> {
        let row = diesel::delete(award_emoji::table.find(id));
        each_backend!(self, |conn| row.execute(conn).map_err(error("Award Emoji")))?;
        Ok(())
    }

    fn delete_awards(&mut self, of: AwardTarget) -> Result<()> {
        let rows = diesel::delete(
            award_emoji::table
                .filter(award_emoji::item_kind.eq(of.kind).and(award_emoji::item_id.eq(of.id))),
        );
        each_backend!(self, |conn| rows.execute(conn).map_err(error("Award Emoji")))?;
        Ok(())
    }

    fn count_votes(&mut self, of: AwardTarget) -> Result<()> {
        match of.kind {
            AwardedKind::Issue => hold(self, IssueId(of.id).into())?,
            AwardedKind::MergeRequest => hold(self, MergeRequestId(of.id).into())?,
            AwardedKind::Epic => hold(self, ItemId { kind: ItemKind::Epic, id: of.id })?,
            AwardedKind::Note => return Ok(()),
        };
        let up = votes(self, of, "thumbsup")?;
        let down = votes(self, of, "thumbsdown")?;
        match of.kind {
            AwardedKind::Issue => {
                let row = diesel::update(issues::table.find(IssueId(of.id)))
                    .set((issues::upvotes.eq(up), issues::downvotes.eq(down)));
                each_backend!(self, |conn| row.execute(conn).map_err(error("Issue")))?;
            }
            AwardedKind::MergeRequest => {
                let row = diesel::update(merge_requests::table.find(MergeRequestId(of.id)))
                    .set((merge_requests::upvotes.eq(up), merge_requests::downvotes.eq(down)));
                each_backend!(self, |conn| row.execute(conn).map_err(error("Merge request")))?;
            }
            AwardedKind::Epic => {
                let row = diesel::update(epics::table.find(of.id))
                    .set((epics::upvotes.eq(up), epics::downvotes.eq(down)));
                each_backend!(self, |conn| row.execute(conn).map_err(error("Epic")))?;
            }
            AwardedKind::Note => {}
        }
        Ok(())
    }
}

fn votes(tx: &mut Tx<'_>, of: AwardTarget, name: &str) -> Result<i64> {
    let rows = award_emoji::table
        .filter(award_emoji::item_kind.eq(of.kind).and(award_emoji::item_id.eq(of.id)))
        .filter(award_emoji::name.eq(name))
        .count();
    each_backend!(tx, |conn| rows.get_result(conn).map_err(error("Award Emoji")))
}
