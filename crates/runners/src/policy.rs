//! Abilities on runners.

use kernel::AccessLevel::{Maintainer, Owner};

kernel::abilities! { in Instance, signed in;
    /// List, see and change runners; which ones, the actions say.
    UseRunners if |_who| true,
}

kernel::abilities! { in Project, signed in;
    /// List the runners that do the jobs of a project.
    ReadProjectRunners if |who| who.is(Maintainer),
    /// Assign runners to a project, and say with which token others register.
    AdminProjectRunners if |who| who.writes(Maintainer),
}

kernel::abilities! { in Group, signed in;
    ReadGroupRunners if |who| who.is(Owner),
    AdminGroupRunners if |who| who.is(Owner),
}
