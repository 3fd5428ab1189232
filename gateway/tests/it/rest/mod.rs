mod commit_actions;
mod commit_comments;
mod commits;
mod conventions;
mod files;
mod projects;
mod protected_branches;
mod protected_tags;
