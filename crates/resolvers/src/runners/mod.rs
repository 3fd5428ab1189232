//! Runners.

mod lists;
mod loaders;
mod mutations;
mod runner;
mod setup;

use graphql::Registry;

use super::context::Context;

pub use runner::of_id;

pub(super) fn register(registry: &mut Registry<Context>) {
    registry.composed(&[
        "RunnerArchitecture",
        "RunnerPermissions",
        "RunnerPlatform",
        "RunnerSetup",
    ]);
    registry.other_names(&[("RunnerMembershipFilter", "CiRunnerMembershipFilter")]);
    lists::register(registry);
    runner::register(registry);
    setup::register(registry);
    mutations::register(registry);
}
