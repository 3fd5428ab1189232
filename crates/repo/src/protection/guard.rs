//! The rules of one project together with how one caller stands to them: loaded once, asked as often as needed.

use std::collections::{HashMap, HashSet};

use db::{OneOf as _, Tx, each_backend, error, schema::namespace_access};
use diesel::prelude::*;
use kernel::{
    AccessLevel::{self, Developer, Reporter},
    Feature, Result, Standing,
    ids::{NamespaceId, ProjectId},
};

use super::{
    model::{Access, AccessKind, BranchRule, Holder, ProtectedBranch, TagRule},
    pattern::Pattern,
    rule_store::{BranchRuleStore, TagRuleStore},
};
use crate::ports::ForkPushBranches;

/// Answers for every branch and tag of a project, without another query.
#[derive(Clone, Debug)]
pub struct Protection {
    caller: Caller,
    branches: Vec<(Pattern, BranchRule)>,
    tags: Vec<(Pattern, TagRule)>,
    /// Branches that others let the caller push to.
    fork_push_branches: HashSet<String>,
}

/// The caller, and their groups among those that the rules name.
#[derive(Clone, Debug)]
struct Caller {
    who: Standing,
    groups: Vec<NamespaceId>,
}

impl Protection {
    pub fn load(tx: &mut Tx<'_>, who: &Standing, project: ProjectId) -> Result<Self> {
        let (branches, tags) = (tx.branch_rules(project)?, tx.tag_rules(project)?);
        Self::with(tx, who, branches, tags)
    }

    /// For who asks of branches alone.
    pub fn of_branches(tx: &mut Tx<'_>, who: &Standing, project: ProjectId) -> Result<Self> {
        let branches = tx.branch_rules(project)?;
        Self::with(tx, who, branches, Vec::new())
    }

    /// For who asks of tags alone.
    pub fn of_tags(tx: &mut Tx<'_>, who: &Standing, project: ProjectId) -> Result<Self> {
        let tags = tx.tag_rules(project)?;
        Self::with(tx, who, Vec::new(), tags)
    }

    fn with(
        tx: &mut Tx<'_>,
        who: &Standing,
        branches: Vec<BranchRule>,
        tags: Vec<TagRule>,
    ) -> Result<Self> {
        let named = branches.iter().flat_map(BranchRule::records);
        let named = named.chain(tags.iter().flat_map(|rule| &rule.create));
        let named: Vec<NamespaceId> = named.filter_map(|access| access.holder.group()).collect();
        let groups = groups_of(tx, who, &named)?;
        Ok(Self::new(who, groups, branches, tags))
    }

    /// As [`load`](Self::load), with the branches of merge requests that allow the caller to push.
    pub fn load_with(
        tx: &mut Tx<'_>,
        fork_push_access: &dyn ForkPushBranches,
        who: &Standing,
        project: ProjectId,
    ) -> Result<Self> {
        let fork_push_branches = fork_push_branches(tx, fork_push_access, who, project)?;
        Ok(Self::load(tx, who, project)?.with_fork_push_branches(fork_push_branches))
    }

    /// The same with the branches of merge requests that allow the caller to push.
    pub fn with_fork_push_branches(self, fork_push_branches: HashSet<String>) -> Self {
        Self { fork_push_branches, ..self }
    }

    /// From rules that are loaded already; `groups` are those of the caller.
    pub fn new(
        who: &Standing,
        groups: Vec<NamespaceId>,
        branches: Vec<BranchRule>,
        tags: Vec<TagRule>,
    ) -> Self {
        let branches = branches.into_iter().map(|rule| (Pattern::new(&rule.branch.name), rule));
        let tags = tags.into_iter().map(|rule| (Pattern::new(&rule.tag.name), rule));
        let caller = Caller { who: *who, groups };
        let fork_push_branches = HashSet::new();
        Self { caller, branches: branches.collect(), tags: tags.collect(), fork_push_branches }
    }

    /// What holds for the branch `name`, whether or not it exists.
    pub fn branch(&self, name: &str) -> BranchProtection<'_> {
        let rules = matching(&self.branches, name);
        BranchProtection {
            caller: &self.caller,
            rules,
            fork_push: self.fork_push_branches.contains(name),
        }
    }

    /// What holds for the tag `name`, whether or not it exists.
    pub fn tag(&self, name: &str) -> TagProtection<'_> {
        TagProtection { caller: &self.caller, rules: matching(&self.tags, name) }
    }

    /// Whether the caller may take away or change `rule`: one of its records must name them, where it has any.
    pub fn may_unprotect(&self, rule: &BranchRule) -> bool {
        rule.unprotect.is_empty() || self.caller.is_let_in(&rule.unprotect)
    }
}

/// The rules that match each of these branches, whoever asks.
pub fn rules_matching(
    tx: &mut Tx<'_>,
    project: ProjectId,
    branches: impl IntoIterator<Item = String>,
) -> Result<HashMap<String, Vec<ProtectedBranch>>> {
    let rules = tx.branch_rules(project)?.into_iter();
    let rules: Vec<(Pattern, ProtectedBranch)> =
        rules.map(|rule| (Pattern::new(&rule.branch.name), rule.branch)).collect();
    let fitting =
        |name: &str| matching(&rules, name).into_iter().cloned().collect::<Vec<ProtectedBranch>>();
    Ok(branches.into_iter().map(|name| (name.clone(), fitting(&name))).collect())
}

/// The branches that a caller without push access to the project may push to, because of `allow_collaboration`.
pub fn fork_push_branches(
    tx: &mut Tx<'_>,
    fork_push_access: &dyn ForkPushBranches,
    who: &Standing,
    project: ProjectId,
) -> Result<HashSet<String>> {
    let needs = who.signed_in() && !who.archived && !who.is(Developer);
    if needs && who.reads(Feature::Repository, Reporter) {
        return fork_push_access.fork_push_branches(tx, who, project);
    }
    Ok(HashSet::new())
}

/// Which of these branches any rule matches, whoever asks.
pub fn protected_among(
    tx: &mut Tx<'_>,
    wanted: &[(ProjectId, String)],
) -> Result<HashSet<(ProjectId, String)>> {
    let projects: Vec<ProjectId> = wanted.iter().map(|(project, _)| *project).collect();
    let rules: Vec<(ProjectId, Pattern)> = tx
        .branch_rule_names(&projects)?
        .into_iter()
        .map(|(project, name)| (project, Pattern::new(&name)))
        .collect();
    let protected = |(project, branch): &&(ProjectId, String)| {
        rules.iter().any(|(of, pattern)| of == project && pattern.matches(branch))
    };
    Ok(wanted.iter().filter(protected).cloned().collect())
}

/// Whether any rule matches the branch, whoever asks.
pub(super) fn is_branch_protected(tx: &mut Tx<'_>, project: ProjectId, name: &str) -> Result<bool> {
    let rules = tx.branch_rules(project)?;
    Ok(rules.iter().any(|rule| Pattern::new(&rule.branch.name).matches(name)))
}

fn matching<'a, R>(rules: &'a [(Pattern, R)], name: &str) -> Vec<&'a R> {
    rules.iter().filter(|(pattern, _)| pattern.matches(name)).map(|(_, rule)| rule).collect()
}

/// Which of `named` the caller is a member of.
fn groups_of(tx: &mut Tx<'_>, who: &Standing, named: &[NamespaceId]) -> Result<Vec<NamespaceId>> {
    let Some(user) = who.actor.id.filter(|_| !named.is_empty()) else { return Ok(Vec::new()) };
    let member = namespace_access::user_id
        .eq(user)
        .and(namespace_access::access_level.gt(AccessLevel::NoAccess))
        .and(namespace_access::until.gt(tx.now));
    each_backend!(tx, |conn| namespace_access::table
        .filter(member)
        .filter(namespace_access::namespace_id.one_of(named))
        .select(namespace_access::namespace_id)
        .load(conn)
        .map_err(error("Group")))
}

impl Caller {
    fn may_push_code(&self) -> bool {
        self.who.writes(AccessLevel::Developer)
    }

    fn is_let_in(&self, records: &[Access]) -> bool {
        self.who.admin() || records.iter().any(|access| self.holds(access.holder))
    }

    fn holds(&self, holder: Holder) -> bool {
        match holder {
            // Roles end at owner, so that `Admin` is out of reach and administrators were let in before.
            Holder::Role(level) => level > AccessLevel::NoAccess && self.who.is(level),
            Holder::User(user) => self.who.actor.id == Some(user),
            Holder::Group(group) => self.groups.contains(&group),
        }
    }
}

/// All rules that match one branch.
#[derive(Clone, Debug)]
pub struct BranchProtection<'a> {
    caller: &'a Caller,
    rules: Vec<&'a BranchRule>,
    fork_push: bool,
}

impl BranchProtection<'_> {
    pub fn is_protected(&self) -> bool {
        !self.rules.is_empty()
    }

    /// Whether the caller may push to the branch, or make it.
    pub fn may_push(&self) -> bool {
        self.allows(AccessKind::Push) || self.is_fork_push_branch()
    }

    /// Whether a merge request allows the caller to push to the branch. Never true for a protected branch.
    pub fn is_fork_push_branch(&self) -> bool {
        self.fork_push && self.rules.is_empty()
    }

    /// Whether the caller may merge into the branch.
    pub fn may_merge(&self) -> bool {
        self.allows(AccessKind::Merge)
    }

    pub fn allows_force_push(&self) -> bool {
        self.rules.is_empty() || self.rules.iter().any(|rule| rule.branch.allow_force_push)
    }

    pub fn needs_code_owner(&self) -> bool {
        self.rules.iter().any(|rule| rule.branch.code_owner_approval_required)
    }

    pub fn developers_can_push(&self) -> bool {
        self.lets_developers(AccessKind::Push)
    }

    pub fn developers_can_merge(&self) -> bool {
        self.lets_developers(AccessKind::Merge)
    }

    fn allows(&self, kind: AccessKind) -> bool {
        self.caller.may_push_code()
            && (self.rules.is_empty()
                || self.rules.iter().any(|rule| self.caller.is_let_in(rule.access(kind))))
    }

    fn lets_developers(&self, kind: AccessKind) -> bool {
        let developers = Holder::Role(AccessLevel::Developer);
        let mut records = self.rules.iter().flat_map(|rule| rule.access(kind));
        records.any(|access| access.holder == developers)
    }
}

/// All rules that match one tag.
#[derive(Clone, Debug)]
pub struct TagProtection<'a> {
    caller: &'a Caller,
    rules: Vec<&'a TagRule>,
}

impl TagProtection<'_> {
    pub fn is_protected(&self) -> bool {
        !self.rules.is_empty()
    }

    /// Whether the caller may make the tag.
    pub fn may_create(&self) -> bool {
        self.caller.may_push_code()
            && (self.rules.is_empty()
                || self.rules.iter().any(|rule| self.caller.is_let_in(&rule.create)))
    }
}
