//! Files of a project: finding them, packing them, and never leaving their folder.

pub(crate) mod archive;
pub(crate) mod glob;
pub(crate) mod paths;
pub(crate) mod walk;
