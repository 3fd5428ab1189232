mod commits;
mod conventions;
mod protected_branches;
mod protected_tags;
