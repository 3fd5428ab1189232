//! The REST API: one file per resource, each opening with its table of routes.

use crate::route::RouteRow;

pub mod access_params;
pub mod blame;
pub mod branches;
pub mod commit_actions;
pub mod commit_comments;
pub mod commits;
pub mod documents;
pub mod files;
pub mod forks;
pub mod health;
pub mod project_lists;
pub mod project_params;
pub mod project_repository;
pub mod project_sharing;
pub mod projects;
pub mod protected_branches;
pub mod protected_tags;
pub mod stars;
pub mod tags;
pub mod version;

/// All tables.
pub fn tables() -> Vec<&'static [RouteRow]> {
    vec![
        blame::ROUTES,
        branches::ROUTES,
        commit_actions::ROUTES,
        commit_comments::ROUTES,
        commits::ROUTES,
        documents::ROUTES,
        files::ROUTES,
        forks::ROUTES,
        health::ROUTES,
        project_lists::ROUTES,
        project_repository::ROUTES,
        project_sharing::ROUTES,
        projects::ROUTES,
        protected_branches::ROUTES,
        protected_tags::ROUTES,
        stars::ROUTES,
        tags::ROUTES,
        version::ROUTES,
    ]
}
