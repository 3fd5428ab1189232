//! Variables that people keep on a project, a group or the installation, for the jobs that run there.

pub mod actions;
mod keeper;
mod layers;
mod model;
mod rules;
mod store;

pub use keeper::{ManageVariables, Reader};
pub use layers::{RefProtection, for_pipeline};
pub use model::{NewVariable, Variable, VariableChange, VariableOwner};

pub use crate::pipeline::VariableType;
pub(crate) use rules::name_faults;
pub use store::VariableStore;
