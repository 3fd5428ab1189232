//! Abilities on issues, merge requests, labels and milestones.

use kernel::{
    AccessLevel::{Developer, Guest, Maintainer, Owner, Reporter},
    Error, Feature, Standing, Visibility,
    access::FeatureAccess,
};

kernel::abilities! { in Project, signed in;
    ReadLabels if |who| reads_either(who),
    ManageLabels if |who| reads_either(who) && who.writes(Reporter),
    ReadMilestones if |who| reads_either(who),
    ManageMilestones if |who| reads_either(who) && who.writes(Reporter),
}

kernel::abilities! { in Group, signed in;
    ReadGroupLabels if |_who| true,
    ManageGroupLabels if |who| who.is(Reporter),
    ReadGroupMilestones if |_who| true,
    ManageGroupMilestones if |who| who.is(Reporter),
    ReadGroupMergeRequests if |_who| true,
}

kernel::abilities! { in Group, open;
    ReadGroupEpics if |who| looks_around(who),
    ReadGroupIterations if |who| looks_around(who),
}

kernel::abilities! { in Group, signed in;
    /// What is said about epics is for those who say who they are.
    ReadEpicNotes if |who| looks_around(who),
    /// Comment on epics.
    DiscussEpics if |who| looks_around(who),
    /// Make and change epics, and say what works towards them.
    ManageGroupEpics if |who| who.is(Reporter),
    DeleteGroupEpics if |who| who.is(Owner),
    ManageGroupIterations if |who| who.is(Reporter),
}

/// A group that only leads to one's own shows no more than its name.
fn looks_around(who: &Standing) -> bool {
    match who.visibility {
        Visibility::Public => true,
        Visibility::Internal => who.is(Guest) || (who.signed_in() && !who.actor.external),
        Visibility::Private => who.is(Guest),
    }
}

/// Labels and milestones are there for issues and for merge requests: one of the two is enough.
fn reads_either(who: &Standing) -> bool {
    who.reads(Feature::Issues, Guest) || who.reads(Feature::MergeRequests, Reporter)
}

kernel::abilities! { in Project, open;
    /// Boards by GraphQL, which is open to strangers.
    ViewBoards if |who| who.reads(Feature::Issues, Guest),
}

kernel::abilities! { in Project, signed in;
    ReadBoards if |who| who.reads(Feature::Issues, Guest),
    /// Make and change boards and their lists.
    ManageBoards if |who| who.reads(Feature::Issues, Guest) && who.writes(Reporter),
}

kernel::abilities! { in Group, open;
    /// As [`ViewBoards`], in a group.
    ViewGroupBoards if |who| looks_around(who),
}

kernel::abilities! { in Group, signed in;
    ReadGroupBoards if |who| looks_around(who),
    /// As [`ManageBoards`], in a group.
    ManageGroupBoards if |who| who.is(Reporter),
}

kernel::abilities! { in Project, open;
    ReadIssues if |who| who.reads(Feature::Issues, Guest) => nothing_there,
}

kernel::abilities! { in Project, signed in;
    /// What is said about issues is for those who say who they are.
    ReadIssueNotes if |who| who.reads(Feature::Issues, Guest),
    /// One link of an issue, with both its ends.
    ReadIssueLinks if |who| who.reads(Feature::Issues, Guest),
    /// Write issues, comment, react, subscribe.
    CreateIssues if |who| who.reads(Feature::Issues, Guest) && !who.archived,
    /// Labels, people, milestones, days, weights and time of issues; move, clone, order and link them.
    ManageIssues if |who| who.reads(Feature::Issues, Guest) && who.writes(Reporter),
    /// With what, and from where, issues were written.
    ReadIssueOrigins if |who| who.reads(Feature::Issues, Guest) && who.actor.admin,
    DeleteIssues if |who| who.reads(Feature::Issues, Guest) && who.writes(Owner),
}

kernel::abilities! { in Project, signed in;
    ListMergeRequests if |who| reads_merge_requests(who),
    ReadMergeRequests if |who| reads_merge_requests(who) => no_merge_request,
    /// Comment on merge requests, react, subscribe.
    TakePartInMergeRequests if |who| {
        reads_merge_requests(who) && !who.archived
    } => no_merge_request,
    ManageMergeRequests if |who| {
        reads_merge_requests(who) && who.writes(Developer)
    } => no_merge_request,
    DeleteMergeRequests if |who| {
        reads_merge_requests(who) && who.writes(Owner)
    } => no_merge_request,
    /// Propose what a branch of the project holds, to it or to another one.
    ProposeMergeRequests if |who| {
        who.reads(Feature::Repository, Reporter) && who.writes(Developer)
    },
    /// Propose something to the project. Where merge requests are switched off, that is said later.
    CreateMergeRequests if |who| takes_merge_requests(who),
}

kernel::abilities! { in Project, signed in;
    /// See who has to approve merge requests: for members who could write some.
    ReadApprovals if |who| reads_merge_requests(who) && who.is(Guest),
    AdminApprovals if |who| reads_merge_requests(who) && who.writes(Maintainer),
}

/// A merge request shows code: who may not read that may not read this.
fn reads_merge_requests(who: &Standing) -> bool {
    who.reads(Feature::MergeRequests, Reporter) && who.reads(Feature::Repository, Reporter)
}

fn takes_merge_requests(who: &Standing) -> bool {
    let off = who.features.merge_requests == FeatureAccess::Disabled;
    let reads = off || who.reads(Feature::MergeRequests, Reporter);
    reads && who.reads(Feature::Repository, Reporter) && !who.archived
}

/// A merge request that may not be read is not there.
fn no_merge_request(who: &Standing) -> Error {
    if reads_merge_requests(who) { Error::forbidden() } else { Error::missing() }
}

/// Who may not read issues is not told that there are any.
fn nothing_there(_who: &Standing) -> Error {
    Error::missing()
}
