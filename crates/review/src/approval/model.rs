//! Rules, approvals and what a project wants of them.

use diesel::prelude::{Queryable, Selectable};
use kernel::{
    Ts,
    ids::{ApprovalRuleId, MergeRequestId, NamespaceId, ProjectId, ProtectedBranchId, UserId},
};
use serde::Serialize;

/// What the rule is called that everybody's approval counts for.
pub const ANY_APPROVER: &str = "All Members";

kernel::text_enum! {
    pub enum RuleType {
        /// Everybody's approval counts.
        AnyApprover = "any_approver",
        /// That of those whom the rule names.
        Regular = "regular",
        /// As the file of code owners says.
        CodeOwner = "code_owner",
        /// Asked for by what a report says.
        Report = "report_approver",
    }
}

kernel::text_enum! {
    pub enum ReportType { LicenseScanning = "license_scanning", CodeCoverage = "code_coverage" }
}

/// The approval settings of a project.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Queryable, Selectable, Serialize)]
#[diesel(table_name = db::schema::approval_settings, check_for_backend(db::AnyBackend))]
pub struct ApprovalSettings {
    /// A push takes all approvals back.
    pub reset_on_push: bool,
    /// A push takes back those of the owners of what it changes.
    pub selective_removals: bool,
    /// Merge requests have no rules of their own.
    pub no_overriding: bool,
    pub author_approval: bool,
    /// Whose commits it brings does not approve a merge request.
    pub no_committer_approval: bool,
    pub require_password: bool,
}

/// The decisions of the installation that bind all projects, whatever these say themselves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ApprovalLocks {
    /// Merge requests have no rules of their own.
    pub no_overriding: bool,
    pub no_author_approval: bool,
    pub no_committer_approval: bool,
}

impl ApprovalSettings {
    /// The settings that count where the installation decides some of them.
    pub fn within(self, locks: ApprovalLocks) -> Self {
        Self {
            no_overriding: self.no_overriding || locks.no_overriding,
            author_approval: self.author_approval && !locks.no_author_approval,
            no_committer_approval: self.no_committer_approval || locks.no_committer_approval,
            ..self
        }
    }
}

impl Default for ApprovalSettings {
    fn default() -> Self {
        Self {
            reset_on_push: true,
            selective_removals: false,
            no_overriding: false,
            author_approval: false,
            no_committer_approval: false,
            require_password: false,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Queryable, Selectable)]
#[diesel(table_name = db::schema::approval_rules, check_for_backend(db::AnyBackend))]
pub struct RuleRow {
    pub id: ApprovalRuleId,
    pub project_id: ProjectId,
    /// `None` for one of the project.
    pub merge_request_id: Option<MergeRequestId>,
    pub source_rule_id: Option<ApprovalRuleId>,
    pub name: String,
    pub rule_type: RuleType,
    pub report_type: Option<ReportType>,
    pub section: Option<String>,
    pub approvals_required: i64,
    pub applies_to_all_protected_branches: bool,
    pub updated_at: Ts,
}

/// A rule with all it names, each in the order of ids.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    pub row: RuleRow,
    pub users: Vec<UserId>,
    pub groups: Vec<NamespaceId>,
    /// With none it counts for every target.
    pub branches: Vec<ProtectedBranchId>,
}

impl Rule {
    /// Whether it says something else than the rule it was made from.
    pub fn differs_from(&self, source: &Self) -> bool {
        self.row.approvals_required != source.row.approvals_required
            || self.row.name != source.row.name
            || self.users != source.users
            || self.groups != source.groups
    }

    /// Whether both are the same in all but the moment at which they were saved.
    pub(super) fn is_same_as(&self, other: &Self) -> bool {
        let row = RuleRow { updated_at: other.row.updated_at, ..self.row.clone() };
        row == other.row
            && self.users == other.users
            && self.groups == other.groups
            && self.branches == other.branches
    }

    /// Whether people made it, and not a file or a report.
    pub fn is_user_defined(&self) -> bool {
        matches!(self.row.rule_type, RuleType::AnyApprover | RuleType::Regular)
    }
}

#[derive(Clone, Debug, Queryable, Selectable)]
#[diesel(table_name = db::schema::approvals, check_for_backend(db::AnyBackend))]
pub struct Approval {
    pub merge_request_id: MergeRequestId,
    pub user_id: UserId,
    pub created_at: Ts,
}
