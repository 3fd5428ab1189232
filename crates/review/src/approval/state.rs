//! The approval state of a merge request, computed from its rules without the database.

use std::collections::{BTreeSet, HashSet};

use kernel::ids::{ApprovalRuleId, ProtectedBranchId, UserId};

use super::model::{ApprovalSettings, Rule, RuleType};

/// The facts of a merge request that approval rules are applied to.
#[derive(Clone, Debug)]
pub struct Case<'a> {
    pub settings: ApprovalSettings,
    pub author: UserId,
    pub committers: HashSet<UserId>,
    /// Whom rules name although they have no role in the project any more, or may not sign in.
    pub absent: &'a HashSet<UserId>,
    /// Who approved, in the order in which they did.
    pub approved_by: Vec<UserId>,
    /// The rules that match the target branch.
    pub target: &'a [ProtectedBranchId],
    pub needs_code_owner: bool,
    /// Those of the project.
    pub project_rules: &'a [Rule],
    /// Those of the merge request.
    pub own_rules: Vec<Rule>,
}

/// One rule and how far it is.
#[derive(Clone, Debug)]
pub struct RuleState {
    pub rule: Rule,
    /// The rule of the project that it stands for.
    pub source: Option<Rule>,
    /// Who may approve for it.
    pub approvers: BTreeSet<UserId>,
    pub approved_by: Vec<UserId>,
    /// As many as it asks for in this merge request.
    pub required: usize,
    pub left: usize,
    pub approved: bool,
}

impl RuleState {
    /// Whether it can never be fulfilled by as many as it asks for.
    pub fn is_invalid(&self) -> bool {
        self.rule.row.rule_type != RuleType::AnyApprover && self.approvers.len() < self.required
    }

    fn is_any(&self) -> bool {
        self.rule.row.rule_type == RuleType::AnyApprover
    }
}

/// The state of a merge request's approvals.
#[derive(Clone, Debug)]
pub struct ApprovalState {
    pub settings: ApprovalSettings,
    pub author: UserId,
    pub committers: HashSet<UserId>,
    pub approved_by: Vec<UserId>,
    /// Whether rules of its own count instead of the project's.
    pub overwritten: bool,
    pub rules: Vec<RuleState>,
}

/// Weighs all rules that count.
///
/// `members` gives those whom a rule's groups hold.
pub fn evaluate(case: Case<'_>, members: impl Fn(&Rule) -> Vec<UserId>) -> ApprovalState {
    let overwritten =
        !case.settings.no_overriding && case.own_rules.iter().any(Rule::is_user_defined);
    let counts = |rule: &Rule| {
        let all = rule.row.applies_to_all_protected_branches;
        match (all, rule.branches.as_slice()) {
            (true, _) => !case.target.is_empty(),
            (false, []) => true,
            (false, named) => named.iter().any(|branch| case.target.contains(branch)),
        }
    };
    let of_project = case.project_rules.iter().filter(|rule| counts(rule));
    let of_project = of_project.filter(|rule| !(overwritten && rule.is_user_defined()));
    let own = case.own_rules.iter().filter(|rule| overwritten || !rule.is_user_defined());
    let mut rules: Vec<RuleState> =
        own.chain(of_project).map(|rule| compute(&case, rule, members(rule))).collect();
    rules.sort_by_key(|state| {
        (
            state.rule.row.rule_type != RuleType::AnyApprover,
            state.rule.row.rule_type == RuleType::CodeOwner,
            state.rule.row.id,
        )
    });
    ApprovalState {
        settings: case.settings,
        author: case.author,
        committers: case.committers,
        approved_by: case.approved_by,
        overwritten,
        rules,
    }
}

fn compute(case: &Case<'_>, rule: &Rule, members: Vec<UserId>) -> RuleState {
    let barred = |user: &UserId| {
        case.absent.contains(user)
            || (*user == case.author && !case.settings.author_approval)
            || (case.settings.no_committer_approval && case.committers.contains(user))
    };
    let named = rule.users.iter().copied().chain(members);
    let approvers: BTreeSet<UserId> = named.filter(|user| !barred(user)).collect();
    let any = rule.row.rule_type == RuleType::AnyApprover;
    let fits = |user: &&UserId| any || approvers.contains(user);
    let approved_by: Vec<UserId> = case.approved_by.iter().filter(fits).copied().collect();
    let counts = rule.row.rule_type != RuleType::CodeOwner || case.needs_code_owner;
    let required = usize::try_from(rule.row.approvals_required).unwrap_or_default();
    let required = if counts { required } else { 0 };
    let left = required.saturating_sub(approved_by.len());
    // Where nobody remains who could approve, nothing is to be waited for.
    let exhausted = !any && approvers.iter().all(|user| approved_by.contains(user));
    let sources = case.project_rules.iter();
    let source = sources.into_iter().find(|source| Some(source.row.id) == rule.row.source_rule_id);
    RuleState {
        rule: rule.clone(),
        source: source.cloned(),
        approvers,
        approved_by,
        required,
        left,
        approved: left == 0 || exhausted,
    }
}

impl ApprovalState {
    pub fn is_approved(&self) -> bool {
        self.rules.iter().all(|state| state.approved)
    }

    /// The rules that were weighed.
    pub fn counting(&self) -> BTreeSet<ApprovalRuleId> {
        self.rules.iter().map(|state| state.rule.row.id).collect()
    }

    pub fn required(&self) -> usize {
        self.rules.iter().map(|state| state.required).sum()
    }

    /// Everybody's approvals and those of the named ones are the same approvals: the greater lack counts.
    pub fn left(&self) -> usize {
        self.left_of_named().max(self.left_of_any())
    }

    /// What is left to be done, where one approval does for a named rule and for everybody's.
    pub fn rules_left(&self) -> impl Iterator<Item = &RuleState> {
        let covered = self.left_of_any() <= self.left_of_named();
        self.rules.iter().filter(move |state| !(state.approved || (state.is_any() && covered)))
    }

    pub fn has_approved(&self, user: UserId) -> bool {
        self.approved_by.contains(&user)
    }

    /// Whether a member who may change the merge request may approve it.
    pub fn is_eligible(&self, user: UserId) -> bool {
        if self.has_approved(user) {
            return false;
        }
        let named = self.rules.iter().any(|state| state.approvers.contains(&user));
        named || !self.is_barred(user)
    }

    fn is_barred(&self, user: UserId) -> bool {
        (user == self.author && !self.settings.author_approval)
            || (self.settings.no_committer_approval && self.committers.contains(&user))
    }

    /// Who could approve for what is left.
    pub fn suggested(&self) -> BTreeSet<UserId> {
        let open = self.rules.iter().filter(|state| !state.approved);
        let approvers = open.flat_map(|state| state.approvers.iter().copied());
        approvers.filter(|user| !self.has_approved(*user)).collect()
    }

    fn left_of_named(&self) -> usize {
        self.lacks(false)
    }

    fn left_of_any(&self) -> usize {
        self.lacks(true)
    }

    fn lacks(&self, any: bool) -> usize {
        let of_kind = self.rules.iter().filter(|state| state.is_any() == any && !state.approved);
        of_kind.map(|state| state.left).sum()
    }
}

#[cfg(test)]
mod tests;
