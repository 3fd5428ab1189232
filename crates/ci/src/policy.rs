//! Who may do what with pipelines and jobs.

use kernel::{
    AccessLevel::{Developer, Guest, Reporter},
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
}

fn reads(who: &Standing) -> bool {
    who.reads(Feature::Builds, Guest) && who.reads(Feature::Repository, Guest)
}
