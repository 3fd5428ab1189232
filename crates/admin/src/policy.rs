//! Who may set up integrations and webhooks.

use kernel::AccessLevel::{Maintainer, Owner};

kernel::abilities! { in Project, signed in;
    /// See and change integrations of a project.
    AdminIntegrations if |who| who.is(Maintainer),
    /// See and change webhooks of a project.
    AdminHooks if |who| who.is(Maintainer),
}

kernel::abilities! { in Group, signed in;
    /// See and change integrations that projects of a group inherit.
    AdminGroupIntegrations if |who| who.is(Maintainer),
    /// See and change webhooks of a group.
    AdminGroupHooks if |who| who.is(Owner),
}
