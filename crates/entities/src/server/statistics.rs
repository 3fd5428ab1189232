//! Numbers of things in the installation.

use forge::statistics::Statistics;
use serde::Serialize;
use utoipa::ToSchema;

/// Numbers as text, with a comma before each three digits.
#[derive(Debug, Serialize, ToSchema)]
pub struct InstanceStatisticsEntity {
    pub forks: String,
    pub issues: String,
    pub merge_requests: String,
    pub notes: String,
    /// Always 0: there are no snippets.
    pub snippets: String,
    pub ssh_keys: String,
    pub milestones: String,
    pub users: String,
    pub projects: String,
    pub groups: String,
    pub active_users: String,
}

impl From<Statistics> for InstanceStatisticsEntity {
    fn from(counted: Statistics) -> Self {
        let Statistics { org, review } = counted;
        Self {
            forks: delimited(org.forks),
            issues: delimited(review.issues),
            merge_requests: delimited(review.merge_requests),
            notes: delimited(review.notes),
            snippets: delimited(0),
            ssh_keys: delimited(org.ssh_keys),
            milestones: delimited(review.milestones),
            users: delimited(org.users),
            projects: delimited(org.projects),
            groups: delimited(org.groups),
            active_users: delimited(org.active_users),
        }
    }
}

fn delimited(number: i64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::delimited;

    #[test]
    fn a_comma_stands_before_each_three_digits() {
        let texts = [0, 999, 1000, 12_345, 1_234_567].map(delimited);
        assert_eq!(texts, ["0", "999", "1,000", "12,345", "1,234,567"]);
    }
}
