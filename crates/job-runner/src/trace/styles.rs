//! Colours of what the runner itself says in a log.

pub(crate) const TITLE: &str = "\x1b[36;1m";
pub(crate) const NOTICE: &str = "\x1b[32;1m";
pub(crate) const SUCCESS: &str = "\x1b[32;1m";
pub(crate) const WARNING: &str = "\x1b[0;33m";
pub(crate) const ERROR: &str = "\x1b[31;1m";
