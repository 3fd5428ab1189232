//! Abilities on projects, groups and users.

use kernel::{
    AccessLevel::{Guest, Maintainer, Minimal, Owner, Reporter},
    Error, Feature, Standing, Visibility,
};

kernel::abilities! { in Project, open;
    /// Know that the project exists, and read what it is set to.
    ReadProject if |_who| true,
}

kernel::abilities! { in Project, signed in;
    /// Do with a visible project what concerns only oneself.
    UseProject if |_who| true,
    UploadFiles if |who| who.writes(Guest),
    AdminProject if |who| who.writes(Maintainer),
    /// What only owners do, in archived projects, too.
    OwnProject if |who| who.is(Owner),
    /// What concerns the machine behind a project.
    OperateProject if |who| who.admin(),
    /// Take a copy of the project: of all its code, so that whoever may must be able to read that.
    ForkProject if |who| {
        who.reads(Feature::Repository, Reporter) && who.reads(Feature::Forking, Guest)
    } => hidden,
}

kernel::abilities! { in Project, signed in;
    ReadProjectMembers if |who| who.visibility != Visibility::Private || who.is(Guest),
    ManageProjectMembers if |who| who.is(Maintainer),
    /// Take oneself out, or one's request to become a member; taking out others is for those who manage members.
    LeaveProject if |_who| true,
    /// Ask to become a member, which is for those who are none.
    AskForProjectAccess if |who| !who.is(Minimal),
    /// Look at the project's tokens, and renew them. Which ones may be renewed is for the action to say.
    ReadProjectTokens if |who| who.is(Maintainer) => unauthenticated,
    /// Ask for a new token or for the end of one. What is refused there names people, so the actions say it.
    AskForProjectTokens if |_who| true,
}

kernel::abilities! { in Group, open;
    ReadGroup if |_who| true,
}

kernel::abilities! { in Group, signed in;
    /// Ask for what is refused in words of its own.
    UseGroup if |_who| true,
    AdminGroup if |who| who.is(Owner),
    RemoveGroup if |who| who.is(Owner),
    ReadGroupMembers if |who| who.visibility != Visibility::Private || who.is(Guest),
    ManageGroupMembers if |who| who.is(Owner),
    /// Take oneself out, or one's request to become a member; taking out others is for those who manage members.
    LeaveGroup if |_who| true,
    /// Ask to become a member, which is for those who are none.
    AskForGroupAccess if |who| !who.is(Minimal),
    ReadGroupTokens if |who| who.is(Owner) => unauthenticated,
    /// As with projects, the actions say what is refused.
    AskForGroupTokens if |_who| true,
    /// Know whom the group brought here.
    ReadProvisionedUsers if |who| who.is(Maintainer),
    /// Know who is locked out of a group, and let them in again.
    ModerateGroup if |who| who.is(Owner),
    /// Ask who counts below a group, and who waits. What is refused there is no plain "forbidden", so the actions say it.
    AskForSeats if |_who| true,
}

kernel::abilities! { in Instance, signed in;
    /// Let in who asked for an account.
    ApproveUsers if |who| who.admin() => no_approval,
    RejectUsers if |who| who.admin() => no_rejection,
}

/// Whoever may not is told no more than that there is nothing.
fn hidden(_: &Standing) -> Error {
    Error::hidden()
}

/// As if no credential had come.
fn unauthenticated(_: &Standing) -> Error {
    Error::unauthenticated()
}

fn no_approval(_: &Standing) -> Error {
    Error::forbidden().whole("You are not allowed to approve a user")
}

fn no_rejection(_: &Standing) -> Error {
    Error::forbidden().whole("You are not allowed to reject a user")
}
