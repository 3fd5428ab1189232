//! Rules with their access records: two queries, however many rules. What branches and tags have in common is written
//! once, for both tables.

use std::collections::HashMap;

use db::{
    CountOf, OneOf as _, Tx, each_backend, error, lower,
    schema::{
        protected_branch_access as branch_access, protected_branches as branches,
        protected_tag_access as tag_access, protected_tags as tags,
    },
};
use diesel::prelude::*;
use kernel::{
    Result,
    ids::{AccessRecordId, ProjectId, ProtectedBranchId, ProtectedTagId},
    page::{COUNT_LIMIT, Page, PageRequest, Total},
};

use super::model::{
    Access, AccessKind, BranchRule, Holder, HolderColumns, ProtectedBranch, ProtectedTag, TagRule,
};

/// A rule without its access records, as it is first written down.
#[derive(Clone, Debug)]
pub struct NewBranchRule {
    pub project_id: ProjectId,
    pub name: String,
    pub allow_force_push: bool,
    pub code_owner_approval_required: bool,
}

pub trait BranchRuleStore {
    /// What the rules of these projects are called.
    fn branch_rule_names(&mut self, projects: &[ProjectId]) -> Result<Vec<(ProjectId, String)>>;
    /// All rules of a project, oldest first.
    fn branch_rules(&mut self, project: ProjectId) -> Result<Vec<BranchRule>>;
    /// A page of the rules whose name contains `search`, in whatever letter case.
    fn branch_rule_page(
        &mut self,
        project: ProjectId,
        search: Option<&str>,
        page: PageRequest,
    ) -> Result<Page<BranchRule>>;
    /// The rule with exactly this name.
    fn find_branch_rule(&mut self, project: ProjectId, name: &str) -> Result<Option<BranchRule>>;
    fn insert_branch_rule(&mut self, new: &NewBranchRule) -> Result<ProtectedBranch>;
    /// Writes the rule's flags and the moment of the change.
    fn update_branch_rule(&mut self, rule: &ProtectedBranch) -> Result<()>;
    fn delete_branch_rule(&mut self, id: ProtectedBranchId) -> Result<()>;
    fn insert_branch_access(
        &mut self,
        rule: ProtectedBranchId,
        kind: AccessKind,
        holder: Holder,
    ) -> Result<Access>;
    fn update_branch_access(&mut self, id: AccessRecordId, holder: Holder) -> Result<()>;
    fn delete_branch_access(&mut self, id: AccessRecordId) -> Result<()>;
}

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

/// The three columns that say whom an access record lets in.
macro_rules! held_by {
    ($access:ident, $holder:expr) => {
        (
            $access::access_level.eq($holder.role()),
            $access::user_id.eq($holder.user()),
            $access::group_id.eq($holder.group()),
        )
    };
}

/// The queries that both tables of rules have, with `$Rule` made from a row and its access records.
macro_rules! queries {
    (
    struct $Name:ident { $table:ident, $access:ident by $of:ident, $told:literal }
    $Id:ident => $Row:ident => $Rule:ident,
    record: ($kind:expr => $Kind:ty),
    bare: $bare:expr,
    place: $place:expr $(,)?
) => {
        struct $Name;

        impl $Name {
            fn all(tx: &mut Tx<'_>, project: ProjectId) -> Result<Vec<$Rule>> {
                let query = $table::table
                    .left_join($access::table)
                    .filter($table::project_id.eq(project))
                    .order(($table::id, $access::id));
                let columns = ($access::access_level, $access::user_id, $access::group_id);
                type Record = (AccessRecordId, $Kind, HolderColumns);
                let rows: Vec<($Row, Option<Record>)> = each_backend!(tx, |conn| query
                    .select(($Row::as_select(), ($access::id, $kind, columns).nullable()))
                    .load(conn)
                    .map_err(error($told)))?;
                let (mut rules, mut newest): (Vec<$Rule>, Option<$Id>) = (Vec::new(), None);
                for (row, record) in rows {
                    if newest != Some(row.id) {
                        newest = Some(row.id);
                        rules.push(($bare)(row));
                    }
                    if let (Some(rule), Some((id, kind, holder))) = (rules.last_mut(), record) {
                        let list: fn(&mut $Rule, $Kind) -> &mut Vec<Access> = $place;
                        list(rule, kind).push(Access { id, holder: holder.into() });
                    }
                }
                Ok(rules)
            }

            fn page(
                tx: &mut Tx<'_>,
                project: ProjectId,
                search: Option<&str>,
                page: PageRequest,
            ) -> Result<Page<$Rule>> {
                let wanted = format!("%{}%", escaped(&search.unwrap_or_default().to_lowercase()));
                let matching = $table::project_id
                    .eq(project)
                    .and(lower($table::name).like(wanted).escape('\\'));
                let rows = $table::table
                    .filter(matching.clone())
                    .order($table::id)
                    .limit(page.per_page)
                    .offset(page.offset());
                let rows = each_backend!(tx, |conn| rows
                    .select($Row::as_select())
                    .load(conn)
                    .map_err(error($told)))?;
                let all = $table::table.filter(matching).select($table::id);
                let counted = CountOf(all.limit(COUNT_LIMIT + 1));
                let total =
                    each_backend!(tx, |conn| counted.get_result(conn).map_err(error($told)))?;
                Ok(Page { items: Self::with_access(tx, rows)?, total: Total::Counted(total) })
            }

            fn named(tx: &mut Tx<'_>, project: ProjectId, name: &str) -> Result<Option<$Rule>> {
                let row: Option<$Row> = each_backend!(tx, |conn| $table::table
                    .filter($table::project_id.eq(project).and($table::name.eq(name)))
                    .select($Row::as_select())
                    .get_result(conn)
                    .optional()
                    .map_err(error($told)))?;
                Ok(Self::with_access(tx, row.into_iter().collect())?.pop())
            }

            fn delete(tx: &mut Tx<'_>, id: $Id) -> Result<()> {
                let row = diesel::delete($table::table.find(id));
                each_backend!(tx, |conn| row.execute(conn).map_err(error($told)))?;
                Ok(())
            }

            /// Gives rules their access records, in the order in which these were made.
            fn with_access(tx: &mut Tx<'_>, rows: Vec<$Row>) -> Result<Vec<$Rule>> {
                if rows.is_empty() {
                    return Ok(Vec::new());
                }
                let ids: Vec<$Id> = rows.iter().map(|row| row.id).collect();
                let columns = ($access::access_level, $access::user_id, $access::group_id);
                type Record = (AccessRecordId, $Id, $Kind, HolderColumns);
                let records: Vec<Record> = each_backend!(tx, |conn| $access::table
                    .filter($access::$of.one_of(&ids))
                    .order($access::id)
                    .select(($access::id, $access::$of, $kind, columns))
                    .load(conn)
                    .map_err(error("Access level")))?;
                let mut rules: Vec<$Rule> = rows.into_iter().map($bare).collect();
                let places: HashMap<$Id, usize> =
                    ids.iter().enumerate().map(|(place, id)| (*id, place)).collect();
                for (id, rule, kind, holder) in records {
                    if let Some(place) = places.get(&rule) {
                        let list: fn(&mut $Rule, $Kind) -> &mut Vec<Access> = $place;
                        list(&mut rules[*place], kind).push(Access { id, holder: holder.into() });
                    }
                }
                Ok(rules)
            }
        }
    };
}

queries! {
    struct BranchQueries { branches, branch_access by protected_branch_id, "Protected branch" }
    ProtectedBranchId => ProtectedBranch => BranchRule,
    record: (branch_access::kind => AccessKind),
    bare: |branch| BranchRule { branch, push: vec![], merge: vec![], unprotect: vec![] },
    place: |rule, kind| rule.access_mut(kind),
}
queries! {
    struct TagQueries { tags, tag_access by protected_tag_id, "Protected tag" }
    ProtectedTagId => ProtectedTag => TagRule,
    record: (tag_access::id => AccessRecordId),
    bare: |tag| TagRule { tag, create: vec![] },
    place: |rule, _| &mut rule.create,
}

impl BranchRuleStore for Tx<'_> {
    fn branch_rule_names(&mut self, projects: &[ProjectId]) -> Result<Vec<(ProjectId, String)>> {
        each_backend!(self, |conn| branches::table
            .filter(branches::project_id.one_of(projects))
            .order(branches::id)
            .select((branches::project_id, branches::name))
            .load(conn)
            .map_err(error("Protected branch")))
    }

    fn branch_rules(&mut self, project: ProjectId) -> Result<Vec<BranchRule>> {
        BranchQueries::all(self, project)
    }

    fn branch_rule_page(
        &mut self,
        project: ProjectId,
        search: Option<&str>,
        page: PageRequest,
    ) -> Result<Page<BranchRule>> {
        BranchQueries::page(self, project, search, page)
    }

    fn find_branch_rule(&mut self, project: ProjectId, name: &str) -> Result<Option<BranchRule>> {
        BranchQueries::named(self, project, name)
    }

    fn insert_branch_rule(&mut self, new: &NewBranchRule) -> Result<ProtectedBranch> {
        let row = (
            branches::project_id.eq(new.project_id),
            branches::name.eq(&new.name),
            branches::allow_force_push.eq(new.allow_force_push),
            branches::code_owner_approval_required.eq(new.code_owner_approval_required),
            branches::created_at.eq(self.now),
            branches::updated_at.eq(self.now),
        );
        let insert = diesel::insert_into(branches::table).values(row);
        each_backend!(self, |conn| insert
            .returning(ProtectedBranch::as_returning())
            .get_result(conn)
            .map_err(error("Protected branch")))
    }

    fn update_branch_rule(&mut self, rule: &ProtectedBranch) -> Result<()> {
        let set = (
            branches::allow_force_push.eq(rule.allow_force_push),
            branches::code_owner_approval_required.eq(rule.code_owner_approval_required),
            branches::updated_at.eq(self.now),
        );
        let row = diesel::update(branches::table.find(rule.id)).set(set);
        each_backend!(self, |conn| row.execute(conn).map_err(error("Protected branch")))?;
        Ok(())
    }

    fn delete_branch_rule(&mut self, id: ProtectedBranchId) -> Result<()> {
        BranchQueries::delete(self, id)
    }

    fn insert_branch_access(
        &mut self,
        rule: ProtectedBranchId,
        kind: AccessKind,
        holder: Holder,
    ) -> Result<Access> {
        let of = (branch_access::protected_branch_id.eq(rule), branch_access::kind.eq(kind));
        let row = (of, held_by!(branch_access, holder));
        let insert = diesel::insert_into(branch_access::table).values(row);
        let id = each_backend!(self, |conn| insert
            .returning(branch_access::id)
            .get_result(conn)
            .map_err(error("Access level")))?;
        Ok(Access { id, holder })
    }

    fn update_branch_access(&mut self, id: AccessRecordId, holder: Holder) -> Result<()> {
        let row =
            diesel::update(branch_access::table.find(id)).set(held_by!(branch_access, holder));
        each_backend!(self, |conn| row.execute(conn).map_err(error("Access level")))?;
        Ok(())
    }

    fn delete_branch_access(&mut self, id: AccessRecordId) -> Result<()> {
        let row = diesel::delete(branch_access::table.find(id));
        each_backend!(self, |conn| row.execute(conn).map_err(error("Access level")))?;
        Ok(())
    }
}

impl TagRuleStore for Tx<'_> {
    fn tag_rules(&mut self, project: ProjectId) -> Result<Vec<TagRule>> {
        TagQueries::all(self, project)
    }

    fn tag_rule_page(&mut self, project: ProjectId, page: PageRequest) -> Result<Page<TagRule>> {
        TagQueries::page(self, project, None, page)
    }

    fn find_tag_rule(&mut self, project: ProjectId, name: &str) -> Result<Option<TagRule>> {
        TagQueries::named(self, project, name)
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
        let row = (tag_access::protected_tag_id.eq(rule), held_by!(tag_access, holder));
        let insert = diesel::insert_into(tag_access::table).values(row);
        let id = each_backend!(self, |conn| insert
            .returning(tag_access::id)
            .get_result(conn)
            .map_err(error("Access level")))?;
        Ok(Access { id, holder })
    }

    fn delete_tag_rule(&mut self, id: ProtectedTagId) -> Result<()> {
        TagQueries::delete(self, id)
    }
}

/// Text in which no character has a meaning for `LIKE`.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_")
}
