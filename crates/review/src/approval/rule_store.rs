//! Rules in the database, with those whom they name.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use db::{
    OneOf as _, Tx, each_backend, error,
    schema::{
        approval_rule_branches as branches, approval_rule_groups as groups,
        approval_rule_users as rule_users, approval_rules as rules, namespace_access,
    },
};
use diesel::prelude::*;
use kernel::{
    AccessLevel, Result,
    ids::{ApprovalRuleId, MergeRequestId, NamespaceId, ProjectId, UserId},
};

use super::{
    model::{Rule, RuleRow, RuleType},
    rule_fields::Details,
};

/// So many projects are asked for in one query.
const AT_ONCE: usize = 1000;

pub trait RuleStore {
    /// The rules of a project itself, the oldest first.
    fn project_rules(&mut self, project: ProjectId) -> Result<Vec<Rule>>;
    /// The own rules of merge requests, the oldest first.
    fn own_rules(&mut self, ids: &[MergeRequestId]) -> Result<HashMap<MergeRequestId, Vec<Rule>>>;
    fn insert_rule(
        &mut self,
        project: ProjectId,
        merge_request: Option<MergeRequestId>,
        source: Option<ApprovalRuleId>,
        details: &Details,
    ) -> Result<ApprovalRuleId>;
    fn save_rule(&mut self, id: ApprovalRuleId, details: &Details) -> Result<()>;
    fn delete_rule(&mut self, id: ApprovalRuleId) -> Result<()>;
    /// Takes away what the file of code owners once said of a merge request.
    fn delete_code_owner_rules(&mut self, id: MergeRequestId) -> Result<()>;
    /// The groups that rules name anywhere.
    fn groups_with_rules(&mut self) -> Result<Vec<NamespaceId>>;
    /// Those of these projects that have rules, of their own or of merge requests.
    fn projects_with_rules(&mut self, among: &[ProjectId]) -> Result<Vec<ProjectId>>;
    /// The projects with rules, of their own or of merge requests, by id after one of them; so many at most.
    fn projects_with_rules_after(&mut self, after: ProjectId, most: i64) -> Result<Vec<ProjectId>>;
    /// The projects in which a rule names somebody, themselves or a group that they are in.
    fn projects_with_approver(&mut self, user: UserId) -> Result<Vec<ProjectId>>;
    /// The projects in which a rule names one of these groups.
    fn projects_with_rules_of(&mut self, groups: &[NamespaceId]) -> Result<Vec<ProjectId>>;
    /// Who is in these groups, by membership of their own or from above.
    fn group_members(
        &mut self,
        groups: &BTreeSet<NamespaceId>,
    ) -> Result<HashMap<NamespaceId, Vec<UserId>>>;
}

impl RuleStore for Tx<'_> {
    fn project_rules(&mut self, project: ProjectId) -> Result<Vec<Rule>> {
        let rows: Vec<RuleRow> = each_backend!(self, |conn| rules::table
            .filter(rules::project_id.eq(project).and(rules::merge_request_id.is_null()))
            .order(rules::id)
            .select(RuleRow::as_select())
            .load(conn)
            .map_err(error("Approval rule")))?;
        with_names(self, rows)
    }

    fn own_rules(&mut self, ids: &[MergeRequestId]) -> Result<HashMap<MergeRequestId, Vec<Rule>>> {
        let rows: Vec<RuleRow> = each_backend!(self, |conn| rules::table
            .filter(rules::merge_request_id.one_of(ids))
            .order(rules::id)
            .select(RuleRow::as_select())
            .load(conn)
            .map_err(error("Approval rule")))?;
        let mut all: HashMap<_, Vec<Rule>> = HashMap::new();
        for rule in with_names(self, rows)? {
            if let Some(id) = rule.row.merge_request_id {
                all.entry(id).or_default().push(rule);
            }
        }
        Ok(all)
    }

    fn insert_rule(
        &mut self,
        project: ProjectId,
        merge_request: Option<MergeRequestId>,
        source: Option<ApprovalRuleId>,
        details: &Details,
    ) -> Result<ApprovalRuleId> {
        let row = (
            rules::project_id.eq(project),
            rules::merge_request_id.eq(merge_request),
            rules::source_rule_id.eq(source),
            rules::name.eq(&details.name),
            rules::rule_type.eq(details.rule_type),
            rules::report_type.eq(details.report_type),
            rules::section.eq(&details.section),
            rules::approvals_required.eq(details.approvals_required),
            rules::applies_to_all_protected_branches.eq(details.all_protected),
            rules::created_at.eq(self.now),
            rules::updated_at.eq(self.now),
        );
        let insert = diesel::insert_into(rules::table).values(row);
        let id: ApprovalRuleId = each_backend!(self, |conn| insert
            .returning(rules::id)
            .get_result(conn)
            .map_err(error("Approval rule")))?;
        save_names(self, id, details)?;
        Ok(id)
    }

    fn save_rule(&mut self, id: ApprovalRuleId, details: &Details) -> Result<()> {
        let row = (
            rules::name.eq(&details.name),
            rules::rule_type.eq(details.rule_type),
            rules::report_type.eq(details.report_type),
            rules::approvals_required.eq(details.approvals_required),
            rules::applies_to_all_protected_branches.eq(details.all_protected),
            rules::updated_at.eq(self.now),
        );
        let update = diesel::update(rules::table.find(id)).set(row);
        each_backend!(self, |conn| update.execute(conn).map_err(error("Approval rule")))?;
        save_names(self, id, details)
    }

    fn delete_rule(&mut self, id: ApprovalRuleId) -> Result<()> {
        let row = diesel::delete(rules::table.find(id));
        each_backend!(self, |conn| row.execute(conn).map_err(error("Approval rule")))?;
        Ok(())
    }

    fn delete_code_owner_rules(&mut self, id: MergeRequestId) -> Result<()> {
        let of_file = rules::merge_request_id.eq(id).and(rules::rule_type.eq(RuleType::CodeOwner));
        let gone = diesel::delete(rules::table.filter(of_file));
        each_backend!(self, |conn| gone.execute(conn).map_err(error("Approval rule")))?;
        Ok(())
    }

    fn groups_with_rules(&mut self) -> Result<Vec<NamespaceId>> {
        each_backend!(self, |conn| groups::table
            .select(groups::namespace_id)
            .distinct()
            .load(conn)
            .map_err(error("Group")))
    }

    fn projects_with_rules(&mut self, among: &[ProjectId]) -> Result<Vec<ProjectId>> {
        let mut found = Vec::new();
        for some in among.chunks(AT_ONCE) {
            let some: Vec<ProjectId> = each_backend!(self, |conn| rules::table
                .filter(rules::project_id.eq_any(some))
                .select(rules::project_id)
                .distinct()
                .load(conn)
                .map_err(error("Project")))?;
            found.extend(some);
        }
        Ok(found)
    }

    fn projects_with_rules_after(&mut self, after: ProjectId, most: i64) -> Result<Vec<ProjectId>> {
        each_backend!(self, |conn| rules::table
            .filter(rules::project_id.gt(after))
            .order(rules::project_id)
            .select(rules::project_id)
            .distinct()
            .limit(most)
            .load(conn)
            .map_err(error("Project")))
    }

    fn projects_with_approver(&mut self, user: UserId) -> Result<Vec<ProjectId>> {
        let mut all: Vec<ProjectId> = each_backend!(self, |conn| rule_users::table
            .inner_join(rules::table)
            .filter(rule_users::user_id.eq(user))
            .select(rules::project_id)
            .distinct()
            .load(conn)
            .map_err(error("Project")))?;
        let theirs: Vec<NamespaceId> = each_backend!(self, |conn| namespace_access::table
            .filter(namespace_access::user_id.eq(user))
            .filter(
                namespace_access::namespace_id.eq_any(groups::table.select(groups::namespace_id))
            )
            .select(namespace_access::namespace_id)
            .load(conn)
            .map_err(error("Group")))?;
        all.extend(self.projects_with_rules_of(&theirs)?);
        all.sort_unstable();
        all.dedup();
        Ok(all)
    }

    fn projects_with_rules_of(&mut self, named: &[NamespaceId]) -> Result<Vec<ProjectId>> {
        each_backend!(self, |conn| groups::table
            .inner_join(rules::table)
            .filter(groups::namespace_id.one_of(named))
            .select(rules::project_id)
            .distinct()
            .load(conn)
            .map_err(error("Project")))
    }

    fn group_members(
        &mut self,
        groups: &BTreeSet<NamespaceId>,
    ) -> Result<HashMap<NamespaceId, Vec<UserId>>> {
        if groups.is_empty() {
            return Ok(HashMap::new());
        }
        let member = namespace_access::access_level
            .ge(AccessLevel::Guest)
            .and(namespace_access::until.gt(self.now));
        let rows: Vec<(NamespaceId, UserId)> = each_backend!(self, |conn| namespace_access::table
            .filter(namespace_access::namespace_id.eq_any(groups))
            .filter(member)
            .order((namespace_access::namespace_id, namespace_access::user_id))
            .select((namespace_access::namespace_id, namespace_access::user_id))
            .load(conn)
            .map_err(error("Group")))?;
        let mut all: HashMap<_, Vec<UserId>> = HashMap::new();
        for (group, user) in rows {
            all.entry(group).or_default().push(user);
        }
        Ok(all)
    }
}

/// The rules with those whom they name, looked up once for all.
fn with_names(tx: &mut Tx<'_>, rows: Vec<RuleRow>) -> Result<Vec<Rule>> {
    if rows.is_empty() {
        return Ok(Vec::new());
    }
    let ids: Vec<ApprovalRuleId> = rows.iter().map(|row| row.id).collect();
    macro_rules! named {
        ($table:ident, $column:ident) => {{
            let rows: Vec<(ApprovalRuleId, _)> = each_backend!(tx, |conn| $table::table
                .filter($table::rule_id.one_of(&ids))
                .order(($table::rule_id, $table::$column))
                .select(($table::rule_id, $table::$column))
                .load(conn)
                .map_err(error("Approval rule")))?;
            let mut all: BTreeMap<ApprovalRuleId, Vec<_>> = BTreeMap::new();
            for (rule, named) in rows {
                all.entry(rule).or_default().push(named);
            }
            all
        }};
    }
    let mut of_users = named!(rule_users, user_id);
    let mut of_groups = named!(groups, namespace_id);
    let mut of_branches = named!(branches, protected_branch_id);
    let whole = rows.into_iter().map(|row| Rule {
        users: of_users.remove(&row.id).unwrap_or_default(),
        groups: of_groups.remove(&row.id).unwrap_or_default(),
        branches: of_branches.remove(&row.id).unwrap_or_default(),
        row,
    });
    Ok(whole.collect())
}

/// Makes a rule name exactly these.
fn save_names(tx: &mut Tx<'_>, id: ApprovalRuleId, details: &Details) -> Result<()> {
    macro_rules! keep {
        ($table:ident, $column:ident, $named:expr) => {
            let old = $table::table.filter($table::rule_id.eq(id));
            each_backend!(tx, |conn| diesel::delete(old)
                .execute(conn)
                .map_err(error("Approval rule")))?;
            let rows: Vec<_> = $named
                .iter()
                .map(|named| ($table::rule_id.eq(id), $table::$column.eq(*named)))
                .collect();
            let rows = diesel::insert_into($table::table).values(rows);
            each_backend!(tx, |conn| rows.execute(conn).map_err(error("Approval rule")))?;
        };
    }
    keep!(rule_users, user_id, details.users);
    keep!(groups, namespace_id, details.groups);
    keep!(branches, protected_branch_id, details.branches);
    Ok(())
}
