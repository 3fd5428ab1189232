//! The GraphQL schema and its resolvers.
//!
//! Each area has a file with its part of the schema in `schema/` and a module with the resolvers of that part. A
//! resolver holds no rules: it asks the functions that the REST handlers ask, with the same proofs of permission.

pub mod abilities;
mod base;
mod boards;
mod comments;
pub mod context;
pub mod deployments;
pub mod failure;
mod geo;
pub mod groups;
pub mod iterations;
mod join;
pub mod keyset_list;
pub mod labels;
pub mod loaders;
pub mod members;
pub mod milestones;
pub mod numbered_list;
pub mod operation_mode;
pub mod other_notes;
pub mod people;
pub mod pipelines;
pub mod projects;
mod releases;
pub mod repository;
pub mod review;
pub mod runners;
pub mod security;
pub mod subscriptions;
mod unsupported_types;
pub mod values;
pub mod windowed_page;

use std::sync::LazyLock;

use graphql::{Registry, Schema};

pub use context::{Context, RequestRates};

/// The texts of the schema, one for each area.
const SCHEMA: &[&str] = &[
    include_str!("schema/base.graphql"),
    include_str!("schema/scalars.graphql"),
    include_str!("schema/people.graphql"),
    include_str!("schema/groups.graphql"),
    include_str!("schema/projects.graphql"),
    include_str!("schema/repository.graphql"),
    include_str!("schema/labels_milestones.graphql"),
    include_str!("schema/review_issues.graphql"),
    include_str!("schema/review_merge_requests.graphql"),
    include_str!("schema/review_notes.graphql"),
    include_str!("schema/review_mutations.graphql"),
    include_str!("schema/review_work_items.graphql"),
    include_str!("schema/pipelines.graphql"),
    include_str!("schema/runners.graphql"),
    include_str!("schema/deployments.graphql"),
    include_str!("schema/releases.graphql"),
    include_str!("schema/security.graphql"),
    include_str!("schema/geo.graphql"),
    include_str!("schema/boards.graphql"),
    include_str!("schema/subscriptions.graphql"),
    include_str!("schema/absent.graphql"),
];

/// The schema with the resolvers of all areas.
pub fn registry() -> Registry<Context> {
    let mut registry = Registry::new(SCHEMA);
    base::register(&mut registry);
    unsupported_types::register(&mut registry);
    people::fields::register(&mut registry);
    groups::fields::register(&mut registry);
    members::register(&mut registry);
    projects::queries::register(&mut registry);
    repository::register(&mut registry);
    labels::register(&mut registry);
    milestones::register(&mut registry);
    iterations::register(&mut registry);
    review::register(&mut registry);
    pipelines::register(&mut registry);
    runners::register(&mut registry);
    deployments::register(&mut registry);
    releases::register(&mut registry);
    security::register(&mut registry);
    comments::register(&mut registry);
    geo::register(&mut registry);
    boards::register(&mut registry);
    subscriptions::register(&mut registry);
    registry
}

/// The schema, made when the first request asks for it; nothing where it does not fit its resolvers, which a test
/// finds.
pub fn schema() -> Option<&'static Schema<Context>> {
    static SCHEMA: LazyLock<Option<Schema<Context>>> = LazyLock::new(|| {
        let built = registry().build();
        if let Err(mistakes) = &built {
            tracing::error!(?mistakes, "the GraphQL schema does not fit its resolvers");
        }
        built.ok()
    });
    SCHEMA.as_ref()
}
