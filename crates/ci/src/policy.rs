//! Abilities on pipelines and jobs.

use kernel::{
    AccessLevel::{Developer, Guest, Maintainer, Owner, Reporter},
    Feature, Standing,
};

kernel::abilities! { in Project, open;
    /// Who is no reporter may so only where the project shows its jobs, which the action asks.
    ReadPipelines if |who| reads(who),
}

kernel::abilities! { in Project, signed in;
    /// As [`ReadPipelines`], for statuses of commits: they tell of the code, which guests of a private project do not
    /// read, whether or not jobs are shown to them.
    ReadCommitStatuses if |who| reads(who) && who.reads(Feature::Repository, Reporter),
    /// Say how something ended that was checked elsewhere.
    ReportCommitStatus if |who| reads(who) && who.writes(Developer),
}

kernel::abilities! { in Project, signed in;
    /// Run pipelines, and ask what a configuration would come to. Protected branches and tags have rules of their own.
    CreatePipelines if |who| reads(who) && who.writes(Developer),
    /// As [`ReadPipelines`], for single jobs.
    ReadJobs if |who| reads(who),
    /// Retry, end and play what runs. Protected branches and tags have rules of their own.
    UpdatePipelines if |who| reads(who) && who.writes(Developer),
    /// As [`UpdatePipelines`], for single jobs. A reporter may change those that deploy where reporters are let deploy, which
    /// the action asks.
    UpdateJobs if |who| reads(who) && who.writes(Reporter),
    /// Take away what jobs left behind.
    DeleteArtifacts if |who| reads(who) && who.writes(Maintainer),
    DeletePipelines if |who| reads(who) && who.writes(Owner),
    /// See in which order jobs run of which only one does at a time.
    ReadResourceGroups if |who| reads(who) && who.is(Developer),
    /// Say in which order.
    ChangeResourceGroups if |who| reads(who) && who.writes(Developer),
}

kernel::abilities! { in Project, signed in;
    /// As with pipelines, who is no reporter may so only where the project shows its jobs.
    ReadSchedules if |who| reads(who),
    /// Change, take over and take away schedules; whose these must be, the actions say.
    ChangeSchedules if |who| reads(who) && who.writes(Developer),
    ReadTriggers if |who| reads(who) && who.is(Maintainer),
    ChangeTriggers if |who| reads(who) && who.writes(Maintainer),
}

kernel::abilities! { in Project, signed in;
    /// Read the variables of a project, with their values.
    ReadVariables if |who| who.is(Maintainer),
    AdminVariables if |who| who.writes(Maintainer),
}

kernel::abilities! { in Project, signed in;
    /// See whose jobs reach a project with their tokens.
    ReadJobTokenScope if |who| who.is(Maintainer),
    /// Say whose.
    ChangeJobTokenScope if |who| who.writes(Maintainer),
}

kernel::abilities! { in Group, signed in;
    AdminGroupVariables if |who| who.is(Owner),
}

fn reads(who: &Standing) -> bool {
    who.reads(Feature::Builds, Guest) && who.reads(Feature::Repository, Guest)
}
