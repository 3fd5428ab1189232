//! Whoever may see or change the variables of one place.

use kernel::{Grant, access::Administrate};

use super::VariableOwner;
use crate::policy::{AdminGroupVariables, AdminVariables, ReadVariables};

/// The proof that somebody may see the variables of a place.
pub trait Reader {
    fn home(&self) -> VariableOwner;
}

/// The proof that somebody may also change them.
pub trait ManageVariables: Reader {}

impl Reader for Grant<ReadVariables> {
    fn home(&self) -> VariableOwner {
        VariableOwner::Project(self.project())
    }
}

impl Reader for Grant<AdminVariables> {
    fn home(&self) -> VariableOwner {
        VariableOwner::Project(self.project())
    }
}

impl Reader for Grant<AdminGroupVariables> {
    fn home(&self) -> VariableOwner {
        VariableOwner::Group(self.group())
    }
}

impl Reader for Grant<Administrate> {
    fn home(&self) -> VariableOwner {
        VariableOwner::Instance
    }
}

impl ManageVariables for Grant<AdminVariables> {}
impl ManageVariables for Grant<AdminGroupVariables> {}
impl ManageVariables for Grant<Administrate> {}
