//! Path parameters of issues, merge requests and epics.

use forge::quick_actions::DiscussionAbility;
use kernel::Ability;
use review::policy::{
    CreateIssues, DiscussEpics, ManageIssues, ManageMergeRequests, ReadEpicNotes, ReadGroupEpics,
    ReadIssueNotes, ReadIssues, ReadMergeRequests, TakePartInMergeRequests,
};

pub(super) use super::{epic_params::OneEpic, merge_request_params::OneMergeRequest};
use crate::{
    extract::{Locate, Params},
    params,
};

/// The part of a path that names an item of some kind.
pub trait NamesItem: Params + Clone + Send {
    fn iid(&self) -> i64;
}

/// An ability on the items of one kind.
pub trait OnItems: DiscussionAbility + Ability<Scope: Locate> + Clone + Send + Sync {
    type Path: NamesItem;
}

params! {
    pub struct OneIssue {
        /// IID in the project.
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

impl NamesItem for OneEpic {
    fn iid(&self) -> i64 {
        self.epic_iid
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
    ReadGroupEpics: OneEpic,
    ReadEpicNotes: OneEpic,
    DiscussEpics: OneEpic,
}
