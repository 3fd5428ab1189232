//! Parameters and responses that resources of several folders share.

pub mod access_levels;
pub mod archives;
pub mod choices;
pub mod discussion_params;
pub mod int_enums;
pub mod people;
pub mod uploaded_files;
pub mod user_filters;
