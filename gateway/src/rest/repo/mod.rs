//! Repositories: commits, files, refs, their protection, and wikis.

use crate::route::RouteRow;

pub mod archive;
pub mod blame;
mod blame_lines;
pub mod blobs;
pub mod branches;
pub mod changelog;
pub mod commit_actions;
pub mod commit_comments;
pub mod commit_discussions;
pub mod commits;
pub mod compare;
mod compared_commits;
pub mod contributors;
pub mod files;
pub mod group_push_rule;
pub mod instance_push_rule;
pub mod merge_base;
pub mod project_push_rule;
pub mod project_repository;
pub mod protected_branches;
pub mod protected_tags;
pub mod protection_params;
pub mod push_rule_calls;
pub mod push_rule_params;
pub mod release_links;
pub mod release_params;
mod release_records;
pub mod releases;
pub mod tags;
pub mod tree;
pub mod wiki_files;
pub mod wikis;

pub(super) const TABLES: &[&[RouteRow]] = &[
    archive::ROUTES,
    blame::ROUTES,
    blobs::ROUTES,
    branches::ROUTES,
    changelog::ROUTES,
    commit_actions::ROUTES,
    commit_comments::ROUTES,
    commit_discussions::ROUTES,
    commits::ROUTES,
    compare::ROUTES,
    contributors::ROUTES,
    files::ROUTES,
    group_push_rule::ROUTES,
    instance_push_rule::ROUTES,
    merge_base::ROUTES,
    project_push_rule::ROUTES,
    project_repository::ROUTES,
    protected_branches::ROUTES,
    protected_tags::ROUTES,
    release_links::ROUTES,
    releases::ROUTES,
    tags::ROUTES,
    tree::ROUTES,
    wiki_files::ROUTES,
    wikis::ROUTES,
];
