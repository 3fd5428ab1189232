//! Environments and what is deployed to them.

mod deployment;
mod environment;
mod loaders;
mod mutations;

use graphql::Registry;

use super::context::Context;

pub use environment::{EnvironmentRecord, environment_of_id};

pub(super) fn register(registry: &mut Registry<Context>) {
    registry.composed(&[
        "DeploymentApproval",
        "DeploymentApprovalSummary",
        "DeploymentPermissions",
        "DeploymentTag",
        "EnvironmentPermissions",
        "NestedEnvironment",
        "ProtectedEnvironment",
    ]);
    environment::register(registry);
    deployment::register(registry);
    mutations::register(registry);
}
