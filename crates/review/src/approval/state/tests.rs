//! Rules and approvals put together, and what they come to.

use std::{collections::HashSet, fmt::Write as _};

use kernel::{
    TextEnum as _, Ts,
    ids::{ApprovalRuleId, ProjectId, ProtectedBranchId, UserId},
};

use super::{ApprovalState, Case, evaluate};
use crate::approval::model::{ApprovalSettings, Rule, RuleRow, RuleType};

const AUTHOR: i64 = 1;

fn rule(id: i64, rule_type: RuleType, required: i64, users: &[i64]) -> Rule {
    let row = RuleRow {
        id: ApprovalRuleId(id),
        project_id: ProjectId(1),
        merge_request_id: None,
        source_rule_id: None,
        name: format!("rule {id}"),
        rule_type,
        report_type: None,
        section: None,
        approvals_required: required,
        applies_to_all_protected_branches: false,
        updated_at: Ts(0),
    };
    let users = users.iter().copied().map(UserId).collect();
    Rule { row, users, groups: Vec::new(), branches: Vec::new() }
}

fn regular(id: i64, required: i64, users: &[i64]) -> Rule {
    rule(id, RuleType::Regular, required, users)
}

fn any(id: i64, required: i64) -> Rule {
    rule(id, RuleType::AnyApprover, required, &[])
}

#[derive(Default)]
struct StateInput {
    settings: ApprovalSettings,
    committers: Vec<i64>,
    absent: Vec<i64>,
    approved_by: Vec<i64>,
    target: Vec<ProtectedBranchId>,
    needs_code_owner: bool,
    own: Vec<Rule>,
}

fn state(rules: &[Rule], asked: StateInput) -> ApprovalState {
    let case = Case {
        settings: asked.settings,
        author: UserId(AUTHOR),
        committers: asked.committers.into_iter().map(UserId).collect::<HashSet<_>>(),
        absent: &asked.absent.into_iter().map(UserId).collect(),
        approved_by: asked.approved_by.into_iter().map(UserId).collect(),
        target: &asked.target,
        needs_code_owner: asked.needs_code_owner,
        project_rules: rules,
        own_rules: asked.own,
    };
    evaluate(case, |_| Vec::new())
}

fn by(people: &[i64]) -> StateInput {
    StateInput { approved_by: people.to_vec(), ..StateInput::default() }
}

#[test]
fn without_rules_nobody_has_to_approve() {
    let state = state(&[], StateInput::default());
    assert!(state.is_approved());
    assert_eq!((state.required(), state.left()), (0, 0));
}

#[test]
fn a_rule_counts_those_whom_it_names_and_one_for_all_counts_everybody() {
    let rules = [any(1, 2), regular(2, 1, &[5, 6])];
    for (people, approved, left, open) in [
        (&[][..], false, 2, vec![1, 2]),
        (&[7], false, 1, vec![2]),
        (&[5], false, 1, vec![1]),
        (&[7, 8], false, 1, vec![2]),
        (&[5, 7], true, 0, vec![]),
    ] {
        let state = state(&rules, by(people));
        assert_eq!((state.is_approved(), state.left()), (approved, left), "{people:?}");
        let left: Vec<i64> = state.rules_left().map(|left| left.rule.row.id.0).collect();
        assert_eq!(left, open, "{people:?}");
        assert_eq!(state.required(), 3);
    }
}

#[test]
fn what_nobody_can_give_is_not_waited_for() {
    let nobody_left = state(&[regular(1, 2, &[5])], by(&[5]));
    assert!(nobody_left.is_approved() && nobody_left.rules[0].is_invalid());
    assert!(state(&[regular(1, 1, &[AUTHOR])], by(&[])).is_approved());
    assert!(!state(&[regular(1, 1, &[5])], by(&[])).is_approved());
    assert!(!state(&[any(1, 1)], by(&[])).is_approved());
}

#[test]
fn authors_and_committers_approve_where_the_project_lets_them() {
    let rules = [regular(1, 1, &[AUTHOR, 2, 3])];
    let eligible = |settings| {
        let asked = StateInput { settings, committers: vec![2], ..StateInput::default() };
        let state = state(&rules, asked);
        [AUTHOR, 2, 3, 9].map(|user| state.is_eligible(UserId(user)))
    };
    let plain = ApprovalSettings::default();

    assert_eq!(eligible(plain), [false, true, true, true]);
    assert_eq!(eligible(ApprovalSettings { author_approval: true, ..plain }), [true; 4]);
    let strict = ApprovalSettings { no_committer_approval: true, ..plain };
    assert_eq!(eligible(strict), [false, false, true, true]);
}

#[test]
fn a_rule_may_be_for_some_targets_alone() {
    let of = |rule: Rule, target: &[i64]| {
        let target = target.iter().copied().map(ProtectedBranchId).collect();
        state(&[rule], StateInput { target, ..StateInput::default() }).rules.len()
    };
    let scoped = Rule { branches: vec![ProtectedBranchId(4)], ..regular(1, 1, &[5]) };
    let mut everywhere = scoped.clone();
    everywhere.row.applies_to_all_protected_branches = true;

    assert_eq!((of(scoped.clone(), &[4, 5]), of(scoped.clone(), &[5]), of(scoped, &[])), (1, 0, 0));
    assert_eq!((of(everywhere.clone(), &[5]), of(everywhere, &[])), (1, 0));
}

#[test]
fn rules_of_a_merge_request_replace_those_that_people_made() {
    let report = rule(3, RuleType::Report, 1, &[8]);
    let rules = [regular(1, 1, &[5]), report];
    let mut own = regular(2, 2, &[6, 7]);
    own.row.source_rule_id = Some(ApprovalRuleId(1));
    let counted = |no_overriding, own: Vec<Rule>| {
        let settings = ApprovalSettings { no_overriding, ..ApprovalSettings::default() };
        state(&rules, StateInput { settings, own, ..StateInput::default() })
    };
    let ids = |state: &ApprovalState| -> Vec<i64> {
        state.rules.iter().map(|state| state.rule.row.id.0).collect()
    };

    let replaced = counted(false, vec![own.clone()]);
    assert_eq!((ids(&replaced), replaced.overwritten), (vec![2, 3], true));
    let source = replaced.rules[0].source.as_ref();
    assert!(source.is_some_and(|source| replaced.rules[0].rule.differs_from(source)));
    let kept = counted(true, vec![own]);
    assert_eq!((ids(&kept), kept.overwritten), (vec![1, 3], false));
    assert_eq!(ids(&counted(false, Vec::new())), [1, 3]);
}

#[test]
fn code_owners_have_to_approve_where_the_branch_wants_it() {
    let owners = || vec![rule(1, RuleType::CodeOwner, 1, &[5])];
    let asked =
        |needs_code_owner| StateInput { needs_code_owner, own: owners(), ..StateInput::default() };

    assert!(!state(&[], asked(true)).is_approved());
    let optional = state(&[], asked(false));
    assert!(optional.is_approved());
    assert_eq!((optional.required(), optional.rules.len()), (0, 1));
    assert!(state(&[], StateInput { approved_by: vec![5], ..asked(true) }).is_approved());
}

#[test]
fn who_is_absent_approves_nothing_by_name() {
    let rules = [regular(1, 1, &[2, 3])];
    let by_two = |absent: Vec<i64>| {
        state(&rules, StateInput { approved_by: vec![2], absent, ..StateInput::default() })
    };
    assert!(by_two(vec![]).is_approved() && by_two(vec![3]).is_approved());
    assert!(!by_two(vec![2]).is_approved());
    let any = [any(1, 1)];
    let left = StateInput { approved_by: vec![2], absent: vec![2], ..StateInput::default() };
    assert!(state(&any, left).is_approved());
}

#[test]
fn every_rule_meets_every_count() {
    let mut table = String::new();
    for rule_type in RuleType::ALL.iter().copied() {
        for (required, approved) in
            (0..=3).flat_map(|required| (0..=2).map(move |by| (required, by)))
        {
            let rules = [rule(1, rule_type, required, &[2, 3])];
            let approved_by = vec![2, 3][..approved].to_vec();
            let all = state(
                &rules,
                StateInput { approved_by, needs_code_owner: true, ..StateInput::default() },
            );
            let (left, end) = (all.left(), if all.is_approved() { "approved" } else { "open" });
            let _ = writeln!(
                table,
                "{rule_type:<15} needs {required} has {approved} -> {left} left, {end}"
            );
        }
    }
    insta::assert_snapshot!(table);
}
