//! Refusals of examples for which there is nothing that one could be made of.

use kernel::Error;

/// Refuses an example that cannot be made of what a group has.
pub(super) fn no_group_data(what: &str) -> Error {
    Error::unprocessable().whole(format!("Ensure the group has {what}."))
}

/// Refuses an example that cannot be made of what a project has.
pub(super) fn no_data(what: &str) -> Error {
    Error::unprocessable().whole(format!("Ensure the project has {what}."))
}
