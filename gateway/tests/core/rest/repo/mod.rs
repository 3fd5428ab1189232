//! Repositories, refs, their protection, and wikis.

mod archive;
mod branches;
mod changelog;
pub(crate) mod collaboration;
mod commit_actions;
mod commit_comments;
mod commit_discussions;
mod commits;
mod files;
mod protected_branches;
mod protected_tags;
mod push_rule_checks;
mod push_rules;
mod ref_names;
mod release_links;
mod release_milestones;
mod releases;
mod signatures;
mod tags;
mod tree;
mod wiki_attachments;
mod wiki_rights;
mod wiki_writes;
mod wikis;
