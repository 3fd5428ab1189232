//! Branch rules with their access records: two queries, however many rules.

use std::collections::HashMap;

use db::{
    CountOf, Tx, each_backend, error, lower,
    schema::{protected_branch_access as access, protected_branches as branches},
};
use diesel::prelude::*;
use kernel::{
    Result,
    ids::{AccessRecordId, ProjectId, ProtectedBranchId},
    page::{COUNT_LIMIT, Page, PageRequest, Total},
};

use super::model::{Access, AccessKind, BranchRule, Holder, HolderColumns, ProtectedBranch};

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

impl BranchRuleStore for Tx<'_> {
    fn branch_rule_names(&mut self, projects: &[ProjectId]) -> Result<Vec<(ProjectId, String)>> {
        each_backend!(self, |conn| branches::table
            .filter(branches::project_id.eq_any(projects))
            .order(branches::id)
            .select((branches::project_id, branches::name))
            .load(conn)
            .map_err(error("Protected branch")))
    }

    fn branch_rules(&mut self, project: ProjectId) -> Result<Vec<BranchRule>> {
        let rows = each_backend!(self, |conn| branches::table
            .filter(branches::project_id.eq(project))
            .order(branches::id)
            .select(ProtectedBranch::as_select())
            .load(conn)
            .map_err(error("Protected branch")))?;
        with_access(self, rows)
    }

    fn branch_rule_page(
        &mut self,
        project: ProjectId,
        search: Option<&str>,
        page: PageRequest,
    ) -> Result<Page<BranchRule>> {
        let wanted = format!("%{}%", escaped(&search.unwrap_or_default().to_lowercase()));
        let matching =
            branches::project_id.eq(project).and(lower(branches::name).like(wanted).escape('\\'));
        let rows = branches::table
            .filter(matching.clone())
            .order(branches::id)
            .limit(page.per_page)
            .offset(page.offset());
        let rows = each_backend!(self, |conn| rows
            .select(ProtectedBranch::as_select())
            .load(conn)
            .map_err(error("Protected branch")))?;
        let counted =
            CountOf(branches::table.filter(matching).select(branches::id).limit(COUNT_LIMIT + 1));
        let total = each_backend!(self, |conn| counted
            .get_result(conn)
            .map_err(error("Protected branch")))?;
        Ok(Page { items: with_access(self, rows)?, total: Total::Counted(total) })
    }

    fn find_branch_rule(&mut self, project: ProjectId, name: &str) -> Result<Option<BranchRule>> {
        let row: Option<ProtectedBranch> = each_backend!(self, |conn| branches::table
            .filter(branches::project_id.eq(project).and(branches::name.eq(name)))
            .select(ProtectedBranch::as_select())
            .get_result(conn)
            .optional()
            .map_err(error("Protected branch")))?;
        Ok(with_access(self, row.into_iter().collect())?.pop())
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
        let row = diesel::delete(branches::table.find(id));
        each_backend!(self, |conn| row.execute(conn).map_err(error("Protected branch")))?;
        Ok(())
    }

    fn insert_branch_access(
        &mut self,
        rule: ProtectedBranchId,
        kind: AccessKind,
        holder: Holder,
    ) -> Result<Access> {
        let row = (
            access::protected_branch_id.eq(rule),
            access::kind.eq(kind),
            access::access_level.eq(holder.role()),
            access::user_id.eq(holder.user()),
            access::group_id.eq(holder.group()),
        );
        let insert = diesel::insert_into(access::table).values(row).returning(access::id);
        let id =
            each_backend!(self, |conn| insert.get_result(conn).map_err(error("Access level")))?;
        Ok(Access { id, holder })
    }

    fn update_branch_access(&mut self, id: AccessRecordId, holder: Holder) -> Result<()> {
        let set = (
            access::access_level.eq(holder.role()),
            access::user_id.eq(holder.user()),
            access::group_id.eq(holder.group()),
        );
        let row = diesel::update(access::table.find(id)).set(set);
        each_backend!(self, |conn| row.execute(conn).map_err(error("Access level")))?;
        Ok(())
    }

    fn delete_branch_access(&mut self, id: AccessRecordId) -> Result<()> {
        let row = diesel::delete(access::table.find(id));
        each_backend!(self, |conn| row.execute(conn).map_err(error("Access level")))?;
        Ok(())
    }
}

/// Gives rules their access records, in the order in which these were made.
fn with_access(tx: &mut Tx<'_>, rows: Vec<ProtectedBranch>) -> Result<Vec<BranchRule>> {
    if rows.is_empty() {
        return Ok(Vec::new());
    }
    let ids: Vec<ProtectedBranchId> = rows.iter().map(|row| row.id).collect();
    type Row = (AccessRecordId, ProtectedBranchId, AccessKind, HolderColumns);
    let records: Vec<Row> = each_backend!(tx, |conn| access::table
        .filter(access::protected_branch_id.eq_any(&ids))
        .order(access::id)
        .select((
            access::id,
            access::protected_branch_id,
            access::kind,
            (access::access_level, access::user_id, access::group_id),
        ))
        .load(conn)
        .map_err(error("Access level")))?;
    let bare = |branch| BranchRule { branch, push: vec![], merge: vec![], unprotect: vec![] };
    let mut rules: Vec<BranchRule> = rows.into_iter().map(bare).collect();
    let places: HashMap<ProtectedBranchId, usize> =
        ids.iter().enumerate().map(|(place, id)| (*id, place)).collect();
    for (id, rule, kind, holder) in records {
        if let Some(place) = places.get(&rule) {
            rules[*place].access_mut(kind).push(Access { id, holder: holder.into() });
        }
    }
    Ok(rules)
}

/// Text in which no character has a meaning for `LIKE`.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_")
}
