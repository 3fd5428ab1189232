//! Says what approval rules come to while one after the other approves: `cargo run -p forgeway-review --example
//! evaluate_approvals`.
//!
//! The same function decides in the product; it asks no database, so that rules can be tried out before anybody has them.
#![expect(clippy::print_stdout, reason = "it is what the program is for")]

use std::collections::HashSet;

use forgeway_review::approval::{ApprovalSettings, Case, Rule, RuleRow, RuleType, evaluate};
use kernel::{
    Ts,
    ids::{ApprovalRuleId, ProjectId, UserId},
};

const AUTHOR: UserId = UserId(1);
const SECURITY: [UserId; 2] = [UserId(5), UserId(6)];

fn main() {
    let rules = [
        rule(1, "Everybody", RuleType::AnyApprover, 2, &[]),
        rule(2, "Security", RuleType::Regular, 1, &SECURITY),
    ];
    let mut approved_by = Vec::new();
    for user in [UserId(2), UserId(3), UserId(6)] {
        approved_by.push(user);
        println!("after {} approved: {}", user.0, verdict(&rules, approved_by.clone()));
    }
    assert_eq!(verdict(&rules, vec![UserId(2), UserId(6)]), "approved");
    assert_eq!(verdict(&rules, vec![UserId(2), UserId(3)]), "Security left");
}

fn verdict(rules: &[Rule], approved_by: Vec<UserId>) -> String {
    let case = Case {
        settings: ApprovalSettings::default(),
        author: AUTHOR,
        committers: HashSet::new(),
        absent: &HashSet::new(),
        approved_by,
        target: &[],
        needs_code_owner: false,
        project_rules: rules,
        own_rules: Vec::new(),
    };
    let state = evaluate(case, |_groups_of| Vec::new());
    let left: Vec<&str> = state.rules_left().map(|left| left.rule.row.name.as_str()).collect();
    if state.is_approved() { "approved".to_owned() } else { format!("{} left", left.join(", ")) }
}

fn rule(id: i64, name: &str, rule_type: RuleType, required: i64, users: &[UserId]) -> Rule {
    let row = RuleRow {
        id: ApprovalRuleId(id),
        project_id: ProjectId(1),
        merge_request_id: None,
        source_rule_id: None,
        name: name.to_owned(),
        rule_type,
        report_type: None,
        section: None,
        approvals_required: required,
        applies_to_all_protected_branches: false,
        updated_at: Ts(0),
    };
    Rule { row, users: users.to_vec(), groups: Vec::new(), branches: Vec::new() }
}
