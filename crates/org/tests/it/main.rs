//! People, groups and projects against their store.

mod access;
mod remembered;
