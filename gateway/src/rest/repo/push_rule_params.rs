//! Parameters of push rules.

use repo::push_rule::Terms;
use serde_json::Value;

use crate::{
    extract::{Param, ParamErrors, Raw},
    params,
};

/// A value that a null puts back to what it is when nobody says anything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reset<T>(pub Option<T>);

impl<T: Param> Param for Reset<T> {
    fn read(raw: &Raw) -> Result<Option<Self>, ParamErrors> {
        T::read(raw).map(|value| Some(Self(value)))
    }

    fn schema() -> Value {
        T::schema()
    }
}

params! {
    pub struct RuleParams {
        deny_delete_tag: Option<Reset<bool>>,
        /// Whether the author must be a user of this instance.
        member_check: Option<Reset<bool>>,
        /// Whether to reject files that are likely to contain secrets.
        prevent_secrets: Option<Reset<bool>>,
        commit_message_regex: Option<Reset<String>>,
        /// Regular expression that commit messages must not match.
        commit_message_negative_regex: Option<Reset<String>>,
        branch_name_regex: Option<Reset<String>>,
        author_email_regex: Option<Reset<String>>,
        /// Regular expression that paths of new files must not match.
        file_name_regex: Option<Reset<String>>,
        /// Maximum file size in MB; 0 for no limit.
        max_file_size: Option<Reset<i64>>,
        /// Whether the committer's email address must be one of the user's verified addresses.
        commit_committer_check: Option<Reset<bool>>,
        /// Whether the author's name must be the name of the pushing user.
        commit_committer_name_check: Option<Reset<bool>>,
        reject_unsigned_commits: Option<Reset<bool>>,
        /// Whether to reject commits without a `Signed-off-by` line.
        reject_non_dco_commits: Option<Reset<bool>>,
    } with at_least_one(
        "deny_delete_tag",
        "member_check",
        "prevent_secrets",
        "commit_message_regex",
        "commit_message_negative_regex",
        "branch_name_regex",
        "author_email_regex",
        "file_name_regex",
        "max_file_size",
        "commit_committer_check",
        "commit_committer_name_check",
        "reject_unsigned_commits",
        "reject_non_dco_commits",
    );
}

fn open<T>(place: &mut Option<T>, given: Option<Reset<T>>) {
    if let Some(Reset(value)) = given {
        *place = value;
    }
}

fn plain<T: Default>(place: &mut T, given: Option<Reset<T>>) {
    if let Some(Reset(value)) = given {
        *place = value.unwrap_or_default();
    }
}

impl RuleParams {
    pub fn apply(self, terms: &mut Terms) {
        plain(&mut terms.deny_delete_tag, self.deny_delete_tag);
        plain(&mut terms.member_check, self.member_check);
        plain(&mut terms.prevent_secrets, self.prevent_secrets);
        open(&mut terms.commit_message_regex, self.commit_message_regex);
        open(&mut terms.commit_message_negative_regex, self.commit_message_negative_regex);
        open(&mut terms.branch_name_regex, self.branch_name_regex);
        open(&mut terms.author_email_regex, self.author_email_regex);
        open(&mut terms.file_name_regex, self.file_name_regex);
        plain(&mut terms.max_file_size, self.max_file_size);
        open(&mut terms.commit_committer_check, self.commit_committer_check);
        open(&mut terms.commit_committer_name_check, self.commit_committer_name_check);
        open(&mut terms.reject_unsigned_commits, self.reject_unsigned_commits);
        open(&mut terms.reject_non_dco_commits, self.reject_non_dco_commits);
    }
}
