//! Who may do what with pipelines and jobs.

use kernel::{
    AccessLevel::{Developer, Guest},
    Feature, Standing,
};

kernel::abilities! { in Project, open;
    /// Who is no reporter may so only where the project shows its jobs, which the action asks.
    ReadPipelines if |who| reads(who),
}

kernel::abilities! { in Project, signed in;
    /// As [`ReadPipelines`], for statuses of commits.
    ReadCommitStatuses if |who| reads(who),
    /// Say how something ended that was checked elsewhere.
    ReportCommitStatus if |who| reads(who) && who.writes(Developer),
}

fn reads(who: &Standing) -> bool {
    who.reads(Feature::Builds, Guest) && who.reads(Feature::Repository, Guest)
}
