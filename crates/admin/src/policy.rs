//! Abilities on integrations and webhooks.

use kernel::AccessLevel::{Maintainer, Owner};

kernel::abilities! { in Project, signed in;
    /// See and change integrations of a project.
    AdminIntegrations if |who| who.is(Maintainer),
    /// See and change webhooks of a project.
    AdminHooks if |who| who.is(Maintainer),
    /// Have a project written into an archive, and fetch that.
    ArchiveProject if |who| who.is(Maintainer),
}

kernel::abilities! { in Group, signed in;
    /// See and change integrations that projects of a group inherit.
    AdminGroupIntegrations if |who| who.is(Maintainer),
    /// See and change webhooks of a group.
    AdminGroupHooks if |who| who.is(Owner),
    /// Have a group written into an archive, and fetch that.
    ArchiveGroup if |who| who.is(Owner),
}
