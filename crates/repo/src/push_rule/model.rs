//! A push rule as it is stored.

use diesel::prelude::{AsChangeset, Insertable, Queryable, Selectable};
use kernel::{
    Error, FieldErrors, Result, Ts,
    ids::{NamespaceId, ProjectId, PushRuleId},
    values::{length_fault, range_fault},
};
use serde::{Deserialize, Serialize};

use super::pattern::Pattern;

/// The owner of a push rule. Only rules of projects are enforced; the others are templates of new projects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    Installation,
    Group(NamespaceId),
    Project(ProjectId),
}

impl Owner {
    pub fn project(self) -> Option<ProjectId> {
        match self {
            Self::Project(id) => Some(id),
            Self::Installation | Self::Group(_) => None,
        }
    }

    pub fn group(self) -> Option<NamespaceId> {
        match self {
            Self::Group(id) => Some(id),
            Self::Installation | Self::Project(_) => None,
        }
    }
}

#[derive(Clone, Debug, Queryable, Selectable)]
#[diesel(table_name = db::schema::push_rules, check_for_backend(db::AnyBackend))]
pub struct PushRule {
    pub id: PushRuleId,
    pub project_id: Option<ProjectId>,
    pub namespace_id: Option<NamespaceId>,
    pub created_at: Ts,
    pub updated_at: Ts,
    #[diesel(embed)]
    pub terms: Terms,
}

/// The requirements of a push rule. An empty pattern requires nothing. Archives hold them by these names.
#[derive(
    Clone,
    Debug,
    Default,
    PartialEq,
    Eq,
    Queryable,
    Selectable,
    Insertable,
    AsChangeset,
    Serialize,
    Deserialize,
)]
#[diesel(table_name = db::schema::push_rules, check_for_backend(db::AnyBackend))]
#[diesel(treat_none_as_null = true)]
#[serde(default)]
pub struct Terms {
    pub commit_message_regex: Option<String>,
    pub commit_message_negative_regex: Option<String>,
    pub branch_name_regex: Option<String>,
    pub author_email_regex: Option<String>,
    pub file_name_regex: Option<String>,
    pub deny_delete_tag: bool,
    pub member_check: bool,
    pub prevent_secrets: bool,
    /// In MB; 0 is no limit.
    pub max_file_size: i64,
    /// Where these say nothing, the rule of the installation decides.
    pub commit_committer_check: Option<bool>,
    pub commit_committer_name_check: Option<bool>,
    pub reject_unsigned_commits: Option<bool>,
    pub reject_non_dco_commits: Option<bool>,
}

const LONGEST: usize = 511;
const LONGEST_NEGATIVE: usize = 2047;
const LARGEST: i64 = 2_147_483_647;

impl Terms {
    /// Everything said: what is left open here is as `installation` has it.
    pub fn read_through(mut self, installation: Option<&Self>) -> Self {
        let theirs = installation.map(Self::open_terms_copied).unwrap_or_default();
        for (own, theirs) in self.open_terms().into_iter().zip(theirs) {
            *own = Some(own.or(theirs).unwrap_or_default());
        }
        self
    }

    /// Does not say what the installation says anyway: a "no" stays open where that has "no", too.
    pub(super) fn left_open(mut self, installation: Option<&Self>) -> Self {
        let theirs = installation.map(Self::open_terms_copied).unwrap_or_default();
        for (own, theirs) in self.open_terms().into_iter().zip(theirs) {
            *own = own.filter(|own| *own || theirs == Some(true));
        }
        self
    }

    /// Every requirement by its name, with its value as text; empty where nothing is required or said.
    pub(super) fn named_values(&self) -> Vec<(&'static str, String)> {
        let patterns = [
            ("commit_message_regex", &self.commit_message_regex),
            ("commit_message_negative_regex", &self.commit_message_negative_regex),
            ("branch_name_regex", &self.branch_name_regex),
            ("author_email_regex", &self.author_email_regex),
            ("file_name_regex", &self.file_name_regex),
        ];
        let checks = [
            ("deny_delete_tag", Some(self.deny_delete_tag)),
            ("member_check", Some(self.member_check)),
            ("prevent_secrets", Some(self.prevent_secrets)),
            ("commit_committer_check", self.commit_committer_check),
            ("commit_committer_name_check", self.commit_committer_name_check),
            ("reject_unsigned_commits", self.reject_unsigned_commits),
            ("reject_non_dco_commits", self.reject_non_dco_commits),
        ];
        let patterns =
            patterns.into_iter().map(|(name, text)| (name, text.clone().unwrap_or_default()));
        let checks = checks
            .into_iter()
            .map(|(name, check)| (name, check.map(|is_on| is_on.to_string()).unwrap_or_default()));
        patterns.chain(checks).chain([("max_file_size", self.max_file_size.to_string())]).collect()
    }

    /// Whether anything is left for the installation to say.
    pub fn is_open(&self) -> bool {
        self.open_terms_copied().contains(&None)
    }

    fn open_terms(&mut self) -> [&mut Option<bool>; 4] {
        [
            &mut self.commit_committer_check,
            &mut self.commit_committer_name_check,
            &mut self.reject_unsigned_commits,
            &mut self.reject_non_dco_commits,
        ]
    }

    fn open_terms_copied(&self) -> [Option<bool>; 4] {
        [
            self.commit_committer_check,
            self.commit_committer_name_check,
            self.reject_unsigned_commits,
            self.reject_non_dco_commits,
        ]
    }

    /// Refuses what cannot be.
    pub(super) fn ensure_valid(&self) -> Result<()> {
        let mut faults = FieldErrors::new();
        if let Some(text) = range_fault(self.max_file_size, 0..=LARGEST) {
            faults.push(("max_file_size".to_owned(), vec![text]));
        }
        for (name, pattern, longest) in [
            ("commit_message_regex", &self.commit_message_regex, LONGEST),
            ("branch_name_regex", &self.branch_name_regex, LONGEST),
            ("author_email_regex", &self.author_email_regex, LONGEST),
            ("file_name_regex", &self.file_name_regex, LONGEST),
            (
                "commit_message_negative_regex",
                &self.commit_message_negative_regex,
                LONGEST_NEGATIVE,
            ),
        ] {
            let texts = pattern_faults(pattern.as_deref().unwrap_or_default(), longest);
            if !texts.is_empty() {
                faults.push((name.to_owned(), texts));
            }
        }
        if faults.is_empty() { Ok(()) } else { Err(Error::bad_request().fields(faults)) }
    }
}

fn pattern_faults(pattern: &str, longest: usize) -> Vec<String> {
    // What is far too long is not even tried.
    if let Some(text) = length_fault(pattern, longest) {
        return vec![text];
    }
    let refused = Pattern::new(pattern).err();
    refused.map(|detail| format!("not valid RE2 syntax: {detail}")).into_iter().collect()
}
