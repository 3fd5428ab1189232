//! How paths name issues and merge requests, for what both have in common.

use kernel::{Ability, access::Project};
use review::policy::{
    CreateIssues, ManageIssues, ManageMergeRequests, ReadIssueNotes, ReadIssues, ReadMergeRequests,
    TakePartInMergeRequests,
};

pub(super) use super::merge_request_params::OneMergeRequest;
use crate::{extract::Params, params};

/// The part of a path that names an item of some kind.
pub trait NamesItem: Params + Send {
    fn iid(&self) -> i64;
}

/// An ability on the items of one kind.
pub trait OnItems: Ability<Scope = Project> + Clone + Send + Sync {
    type Path: NamesItem;
}

params! {
    pub struct OneIssue {
        /// Its number in the project.
        issue_iid: i64,
    }
}

impl NamesItem for OneIssue {
    fn iid(&self) -> i64 {
        self.issue_iid
    }
}

impl NamesItem for OneMergeRequest {
    fn iid(&self) -> i64 {
        self.merge_request_iid
    }
}

macro_rules! on_items { ($($ability:ident: $path:ident),* $(,)?) => { $(
    impl OnItems for $ability {
        type Path = $path;
    }
)* } }

on_items! {
    ReadIssues: OneIssue,
    ReadIssueNotes: OneIssue,
    CreateIssues: OneIssue,
    ReadMergeRequests: OneMergeRequest,
    TakePartInMergeRequests: OneMergeRequest,
    ManageIssues: OneIssue,
    ManageMergeRequests: OneMergeRequest,
}
