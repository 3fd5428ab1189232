mod commit_actions;
mod commits;
mod conventions;
mod projects;
mod protected_branches;
mod protected_tags;
