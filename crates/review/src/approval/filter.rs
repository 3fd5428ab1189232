//! Conditions by which lists of merge requests choose by approvals. Their rows are called `i`.

use kernel::ids::UserId;

use crate::item::list::{Choice, Conditions};

const APPROVED: &str = "SELECT 1 FROM approvals ap WHERE ap.merge_request_id = i.id";

/// Rules that count for a merge request, as they were when it was weighed.
const RULES: &str = "SELECT 1 FROM merge_request_rules ar WHERE ar.merge_request_id = i.id";

/// Approved by each of these people, by somebody, or by nobody.
pub fn approved_by(all: &mut Conditions, choice: &Choice<Vec<UserId>>) {
    match choice {
        Choice::Nothing => all.plain(format!("NOT EXISTS ({APPROVED})")),
        Choice::Anything => all.plain(format!("EXISTS ({APPROVED})")),
        Choice::These(people) => {
            for user in people {
                all.plain(format!("EXISTS ({APPROVED} AND ap.user_id = {user})"));
            }
        }
    }
}

/// With each of these people among those who are to approve, themselves or by a group; with somebody, or nobody.
pub fn approvers(all: &mut Conditions, choice: &Choice<Vec<UserId>>) {
    let named = "EXISTS (SELECT 1 FROM approval_rule_users u WHERE u.rule_id = ar.rule_id";
    let grouped = "EXISTS (SELECT 1 FROM approval_rule_groups g";
    let anybody = format!("({RULES} AND ({named}) OR {grouped} WHERE g.rule_id = ar.rule_id)))");
    match choice {
        Choice::Nothing => all.plain(format!("NOT EXISTS {anybody}")),
        Choice::Anything => all.plain(format!("EXISTS {anybody}")),
        Choice::These(people) => {
            for user in people {
                all.plain(format!(
                    "EXISTS ({RULES} AND ({named} AND u.user_id = {user}) \
                     OR {grouped} JOIN namespace_access a ON a.namespace_id = g.namespace_id \
                         WHERE g.rule_id = ar.rule_id AND a.user_id = {user} AND a.access_level >= 10)))"
                ));
            }
        }
    }
}
