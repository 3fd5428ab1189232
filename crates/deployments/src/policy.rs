//! Abilities on environments.

use kernel::{
    AccessLevel::{Developer, Maintainer, Reporter},
    Feature, Standing,
};

kernel::abilities! { in Project, signed in;
    ReadEnvironments if |who| reads(who),
    /// Create and change environments.
    ChangeEnvironments if |who| reads(who) && who.writes(Developer),
    /// Stop environments: with a job whoever may play that, else who may change environments, which the action asks.
    StopEnvironments if |who| reads(who) && who.writes(Reporter),
    /// Remove environments that were stopped.
    RemoveEnvironments if |who| reads(who) && who.writes(Developer),
    StopStaleEnvironments if |who| reads(who) && who.writes(Maintainer),
    /// Remove stopped environments of branches, many at once.
    RemoveReviewApps if |who| reads(who) && who.writes(Developer),
}

kernel::abilities! { in Project, signed in;
    ReadDeployments if |who| reads(who),
    /// Report what somebody else deploys.
    ChangeDeployments if |who| reads(who) && who.writes(Developer),
    RemoveDeployments if |who| reads(who) && who.writes(Maintainer),
}

kernel::abilities! { in Project, signed in;
    /// See when nothing is to be deployed.
    ReadFreezePeriods if |who| reads(who) && who.is(Reporter),
    ChangeFreezePeriods if |who| reads(who) && who.writes(Maintainer),
}

kernel::abilities! { in Project, signed in;
    /// Say who may deploy to an environment, and who has to approve it.
    ProtectEnvironments if |who| reads(who) && who.writes(Maintainer),
}

kernel::abilities! { in Group, signed in;
    /// As [`ProtectEnvironments`], for all environments of a tier below a group.
    ProtectGroupEnvironments if |who| who.is(Maintainer),
}

fn reads(who: &Standing) -> bool {
    who.reads(Feature::Builds, Reporter) && who.reads(Feature::Repository, Reporter)
}
