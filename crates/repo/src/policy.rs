//! The abilities of this crate: who may do what with repositories.

use kernel::{
    AccessLevel::{Developer, Guest, Maintainer, Owner, Reporter},
    Error, Feature, Standing,
    access::FeatureAccess,
};

/// What those read who may not push to a branch.
pub const NOT_YOUR_BRANCH: &str = "You are not allowed to push into this branch";

kernel::abilities! { in Project, open;
    /// Read commits, branches, tags, trees, comparisons and archives; clone.
    ReadCode if |who| who.reads(Feature::Repository, Reporter) => no_repository,
    /// Read the content of files.
    ReadFiles if |who| who.reads(Feature::Repository, Reporter),
}

kernel::abilities! { in Project, open;
    ReadWiki if |who| who.reads(Feature::Wiki, Guest),
}

kernel::abilities! { in Project, signed in;
    /// Make and change pages, and add attachments.
    WriteWiki if |who| who.reads(Feature::Wiki, Guest) && who.writes(Developer),
    /// Take pages away.
    AdminWiki if |who| who.reads(Feature::Wiki, Guest) && who.writes(Maintainer),
}

kernel::abilities! { in Group, open;
    ReadGroupWiki if |who| who.reads(Feature::Wiki, Guest),
}

kernel::abilities! { in Group, signed in;
    WriteGroupWiki if |who| who.reads(Feature::Wiki, Guest) && who.writes(Developer),
    AdminGroupWiki if |who| who.reads(Feature::Wiki, Guest) && who.writes(Maintainer),
}

kernel::abilities! { in Project, signed in;
    /// Push, make and delete branches and tags. Protected ones have rules of their own.
    PushCode if |who| pushes(who),
    /// Move a branch that the call names. Whether this one may move is decided where it is known: those who may not
    /// push to the project may push to what is lent to them.
    PushToBranch if |who| {
        who.reads(Feature::Repository, Reporter) && !who.archived
    } => not_your_branch,
    /// Read discussions about commits, as those do who say who they are.
    ReadCommitDiscussions if |who| who.reads(Feature::Repository, Reporter) => no_repository,
    /// Say something about a commit.
    CommentOnCommit if |who| {
        who.reads(Feature::Repository, Reporter) && !who.archived
    } => no_repository,
    /// Say which branches and tags are protected, and from whom.
    ProtectRefs if |who| who.writes(Maintainer),
    ReadPushRule if |who| who.is(Maintainer),
    AdminPushRule if |who| who.writes(Maintainer),
}

kernel::abilities! { in Group, signed in;
    ReadGroupPushRule if |who| who.is(Maintainer) => hidden,
    AdminGroupPushRule if |who| who.is(Owner) => hidden,
}

/// Whoever may not see it is not told that there is something to see.
fn hidden(_: &Standing) -> Error {
    Error::hidden()
}

fn pushes(who: &Standing) -> bool {
    who.reads(Feature::Repository, Reporter) && who.writes(Developer)
}

/// Where the repository is switched off for the caller, there is none.
fn no_repository(who: &Standing) -> Error {
    let off = match who.features.repository {
        FeatureAccess::Disabled => true,
        FeatureAccess::Private => !who.is(Guest),
        FeatureAccess::Enabled | FeatureAccess::Public => false,
    };
    if off { Error::not_found("Repository") } else { Error::forbidden() }
}

fn not_your_branch(who: &Standing) -> Error {
    if who.reads(Feature::Repository, Reporter) {
        return Error::forbidden().because(NOT_YOUR_BRANCH);
    }
    no_repository(who)
}

#[cfg(test)]
mod tests {
    use kernel::{
        Ability as _, AccessLevel, Actor, Standing, Visibility, access::FeatureAccess, error::Kind,
        ids::UserId,
    };

    use super::{PushCode, PushToBranch, ReadCode, ReadFiles};

    fn standing(level: AccessLevel, visibility: Visibility, access: FeatureAccess) -> Standing {
        let actor = Actor { id: Some(UserId(1)), ..Actor::ANONYMOUS };
        let mut who = Standing::in_scope(actor, level, visibility);
        who.features.repository = access;
        who
    }

    #[test]
    fn guests_read_code_where_everybody_does() {
        use AccessLevel::{Guest, NoAccess, Reporter};
        use FeatureAccess::{Disabled, Enabled, Private};
        for (level, visibility, access, reads) in [
            (NoAccess, Visibility::Public, Enabled, true),
            (NoAccess, Visibility::Public, Private, false),
            (Guest, Visibility::Public, Private, true),
            (Guest, Visibility::Private, Enabled, false),
            (Reporter, Visibility::Private, Enabled, true),
            (Reporter, Visibility::Private, Private, true),
            (Reporter, Visibility::Public, Disabled, false),
        ] {
            let who = standing(level, visibility, access);
            assert_eq!(ReadCode::allows(&who), reads, "{level:?} {visibility} {access}");
            assert_eq!(ReadFiles::allows(&who), reads, "{level:?} {visibility} {access}");
        }
    }

    #[test]
    fn a_repository_that_is_off_is_not_there() {
        let hidden = standing(AccessLevel::NoAccess, Visibility::Public, FeatureAccess::Private);
        assert!(ReadCode::refusal(&hidden).is_not_found("Repository"));
        assert!(ReadFiles::refusal(&hidden).is_plain(Kind::Forbidden));
        assert!(PushToBranch::refusal(&hidden).is_not_found("Repository"));
        let guest = standing(AccessLevel::Guest, Visibility::Private, FeatureAccess::Enabled);
        assert!(ReadCode::refusal(&guest).is_plain(Kind::Forbidden));
        let reader = standing(AccessLevel::Reporter, Visibility::Public, FeatureAccess::Enabled);
        assert!(PushToBranch::allows(&reader) && !PushCode::allows(&reader));
        assert!(PushToBranch::refusal(&reader).has_reason(Kind::Forbidden));
    }
}
