//! Tag rules with their access records: two queries, however many rules.

use std::collections::HashMap;

use db::{
    CountOf, Tx, each_backend, error,
    schema::{protected_tag_access as access, protected_tags as tags},
};
use diesel::prelude::*;
use kernel::{
    Result,
    ids::{AccessRecordId, ProjectId, ProtectedTagId},
    page::{COUNT_LIMIT, Page, PageRequest, Total},
};

use super::model::{Access, Holder, HolderColumns, ProtectedTag, TagRule};

pub trait TagRuleStore {
    /// All rules of a project, oldest first.
    fn tag_rules(&mut self, project: ProjectId) -> Result<Vec<TagRule>>;
    fn tag_rule_page(&mut self, project: ProjectId, page: PageRequest) -> Result<Page<TagRule>>;
    /// The rule with exactly this name.
    fn find_tag_rule(&mut self, project: ProjectId, name: &str) -> Result<Option<TagRule>>;
    fn insert_tag_rule(&mut self, project: ProjectId, name: &str) -> Result<ProtectedTag>;
    fn insert_tag_access(&mut self, rule: ProtectedTagId, holder: Holder) -> Result<Access>;
    fn delete_tag_rule(&mut self, id: ProtectedTagId) -> Result<()>;
}

impl TagRuleStore for Tx<'_> {
    fn tag_rules(&mut self, project: ProjectId) -> Result<Vec<TagRule>> {
        let rows = each_backend!(self, |conn| tags::table
            .filter(tags::project_id.eq(project))
            .order(tags::id)
            .select(ProtectedTag::as_select())
            .load(conn)
            .map_err(error("Protected tag")))?;
        with_access(self, rows)
    }

    fn tag_rule_page(&mut self, project: ProjectId, page: PageRequest) -> Result<Page<TagRule>> {
        let all = tags::table.filter(tags::project_id.eq(project));
        let rows = all.order(tags::id).limit(page.per_page).offset(page.offset());
        let rows = each_backend!(self, |conn| rows
            .select(ProtectedTag::as_select())
            .load(conn)
            .map_err(error("Protected tag")))?;
        let counted = CountOf(all.select(tags::id).limit(COUNT_LIMIT + 1));
        let total =
            each_backend!(self, |conn| counted.get_result(conn).map_err(error("Protected tag")))?;
        Ok(Page { items: with_access(self, rows)?, total: Total::Counted(total) })
    }

    fn find_tag_rule(&mut self, project: ProjectId, name: &str) -> Result<Option<TagRule>> {
        let row: Option<ProtectedTag> = each_backend!(self, |conn| tags::table
            .filter(tags::project_id.eq(project).and(tags::name.eq(name)))
            .select(ProtectedTag::as_select())
            .get_result(conn)
            .optional()
            .map_err(error("Protected tag")))?;
        Ok(with_access(self, row.into_iter().collect())?.pop())
    }

    fn insert_tag_rule(&mut self, project: ProjectId, name: &str) -> Result<ProtectedTag> {
        let row = (
            tags::project_id.eq(project),
            tags::name.eq(name),
            tags::created_at.eq(self.now),
            tags::updated_at.eq(self.now),
        );
        let insert = diesel::insert_into(tags::table).values(row);
        each_backend!(self, |conn| insert
            .returning(ProtectedTag::as_returning())
            .get_result(conn)
            .map_err(error("Protected tag")))
    }

    fn insert_tag_access(&mut self, rule: ProtectedTagId, holder: Holder) -> Result<Access> {
        let row = (
            access::protected_tag_id.eq(rule),
            access::access_level.eq(holder.role()),
            access::user_id.eq(holder.user()),
            access::group_id.eq(holder.group()),
        );
        let insert = diesel::insert_into(access::table).values(row).returning(access::id);
        let id =
            each_backend!(self, |conn| insert.get_result(conn).map_err(error("Access level")))?;
        Ok(Access { id, holder })
    }

    fn delete_tag_rule(&mut self, id: ProtectedTagId) -> Result<()> {
        let row = diesel::delete(tags::table.find(id));
        each_backend!(self, |conn| row.execute(conn).map_err(error("Protected tag")))?;
        Ok(())
    }
}

/// Gives rules their access records, in the order in which these were made.
fn with_access(tx: &mut Tx<'_>, rows: Vec<ProtectedTag>) -> Result<Vec<TagRule>> {
    if rows.is_empty() {
        return Ok(Vec::new());
    }
    let ids: Vec<ProtectedTagId> = rows.iter().map(|row| row.id).collect();
    type Row = (AccessRecordId, ProtectedTagId, HolderColumns);
    let records: Vec<Row> = each_backend!(tx, |conn| access::table
        .filter(access::protected_tag_id.eq_any(&ids))
        .order(access::id)
        .select((
            access::id,
            access::protected_tag_id,
            (access::access_level, access::user_id, access::group_id),
        ))
        .load(conn)
        .map_err(error("Access level")))?;
    let mut by_rule: HashMap<ProtectedTagId, Vec<Access>> = HashMap::new();
    for (id, rule, holder) in records {
        by_rule.entry(rule).or_default().push(Access { id, holder: holder.into() });
    }
    let complete = |tag: ProtectedTag| {
        let create = by_rule.remove(&tag.id).unwrap_or_default();
        TagRule { tag, create }
    };
    Ok(rows.into_iter().map(complete).collect())
}
