//! People, groups and projects.
