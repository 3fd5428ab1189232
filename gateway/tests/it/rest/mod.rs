mod commits;
mod conventions;
