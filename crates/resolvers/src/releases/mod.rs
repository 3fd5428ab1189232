//! Releases of projects, with their links and milestones.

mod assets;
mod link_mutations;
mod lists;
mod mutations;
mod record;

use graphql::Registry;

use super::context::Context;

pub(super) use lists::of_milestone;

pub(super) fn register(registry: &mut Registry<Context>) {
    registry.composed(&["ReleaseAssetLink", "ReleaseEvidence", "ReleaseLinks", "ReleaseSource"]);
    record::register(registry);
    assets::register(registry);
    lists::register(registry);
    mutations::register(registry);
    link_mutations::register(registry);
}
