//! The `forgeway` command.

fn main() {}
