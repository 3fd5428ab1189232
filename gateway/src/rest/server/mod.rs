//! What the server tells of itself, and what it makes of texts.

use crate::route::RouteRow;

pub mod documents;
pub mod health;
pub mod markdown;
pub mod settings;
pub mod version;

pub(super) const TABLES: &[&[RouteRow]] =
    &[documents::ROUTES, health::ROUTES, markdown::ROUTES, settings::ROUTES, version::ROUTES];
