//! The REST API: a folder for each domain, a file for each resource, which opens with its table of routes.

use crate::{
    graphql,
    route::{Description, RouteRow},
    web,
};

pub mod admin;
pub mod ci;
pub mod deployments;
pub mod geo;
pub mod org;
pub mod repo;
pub mod review;
pub mod runners;
pub mod security;
pub mod server;
pub mod shared;

/// All tables.
pub fn tables() -> Vec<&'static [RouteRow]> {
    let tables = [
        server::TABLES,
        org::TABLES,
        repo::TABLES,
        review::TABLES,
        ci::TABLES,
        deployments::TABLES,
        runners::TABLES,
        security::TABLES,
        admin::TABLES,
        geo::TABLES,
        &[web::TABLES, graphql::TABLES],
    ];
    tables.concat().concat()
}

/// All rows with what documents say of them. Nothing that serves asks for it.
pub fn described() -> Vec<(&'static RouteRow, Description)> {
    let descriptions = [
        server::DESCRIPTIONS,
        org::DESCRIPTIONS,
        repo::DESCRIPTIONS,
        review::DESCRIPTIONS,
        ci::DESCRIPTIONS,
        deployments::DESCRIPTIONS,
        runners::DESCRIPTIONS,
        security::DESCRIPTIONS,
        admin::DESCRIPTIONS,
        geo::DESCRIPTIONS,
        &[web::DESCRIPTIONS, graphql::DESCRIPTIONS],
    ];
    let descriptions = descriptions.concat().concat().concat();
    tables().into_iter().flatten().zip(descriptions).collect()
}
