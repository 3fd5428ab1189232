//! Templates that a configuration may include by name.

/// The text of a template, named without its ending.
pub fn find(_name: &str) -> Option<&'static str> {
    None
}
