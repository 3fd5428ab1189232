//! Who may do what with labels and milestones.

use kernel::{
    AccessLevel::{Guest, Reporter},
    Feature, Standing,
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
}

/// Labels and milestones are there for issues and for merge requests: one of the two is enough.
fn reads_either(who: &Standing) -> bool {
    who.reads(Feature::Issues, Guest) || who.reads(Feature::MergeRequests, Reporter)
}
