//! Who may do what with projects, groups and people.

use kernel::{AccessLevel::Guest, Feature};

kernel::abilities! { in Project, open;
    /// Know that the project exists, and read what it is set to.
    ReadProject if |_who| true,
}

kernel::abilities! { in Project, signed in;
    ForkProject if |who| who.reads(Feature::Repository, Guest) && who.reads(Feature::Forking, Guest),
}
