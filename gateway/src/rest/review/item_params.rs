//! How paths name issues, merge requests and epics, for what they have in common.

use forge::quick_actions::{Sender, after_saying};
use kernel::{Ability, Result};
use review::{
    note::actions::NoteResult,
    policy::{
        CreateIssues, DiscussEpics, ManageIssues, ManageMergeRequests, ReadEpicNotes,
        ReadGroupEpics, ReadIssueNotes, ReadIssues, ReadMergeRequests, TakePartInMergeRequests,
    },
};

pub(super) use super::{epic_params::OneEpic, merge_request_params::OneMergeRequest};
use crate::{
    app::App,
    extract::{Locate, Params},
    params,
};

/// The part of a path that names an item of some kind.
pub trait NamesItem: Params + Clone + Send {
    fn iid(&self) -> i64;
}

/// An ability on the items of one kind.
pub trait OnItems: Ability<Scope: Locate> + Clone + Send + Sync {
    type Path: NamesItem;

    /// Does what is still to be done after something was said about one of them.
    fn finish(
        app: &App,
        sender: &Sender<'_, Self>,
        said: NoteResult,
    ) -> impl Future<Output = Result<NoteResult>>;
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

        async fn finish(app: &App, sender: &Sender<'_, Self>, said: NoteResult) -> Result<NoteResult> {
            after_saying(app, sender, said).await
        }
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

macro_rules! on_epics { ($($ability:ident),*) => { $(
    impl OnItems for $ability {
        type Path = OneEpic;

        /// Nothing that is said about epics is done later.
        async fn finish(_: &App, _: &Sender<'_, Self>, said: NoteResult) -> Result<NoteResult> {
            Ok(said)
        }
    }
)* } }

on_epics! { ReadGroupEpics, ReadEpicNotes, DiscussEpics }
