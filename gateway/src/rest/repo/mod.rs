//! Repositories: commits, files, refs, their protection, and wikis.

use crate::resources;

mod blame_lines;
mod compared_commits;
pub mod protection_params;
pub mod push_rule_calls;
pub mod push_rule_params;
pub mod release_params;

resources! {
    archive,
    blame,
    blobs,
    branches,
    changelog,
    commit_actions,
    commit_comments,
    commit_discussions,
    commits,
    compare,
    contributors,
    files,
    group_push_rule,
    instance_push_rule,
    merge_base,
    project_push_rule,
    project_repository,
    protected_branches,
    protected_tags,
    release_links,
    releases,
    tags,
    tree,
    wiki_files,
    wikis,
}
