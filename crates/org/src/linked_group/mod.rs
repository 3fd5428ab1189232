//! Groups that are kept elsewhere, and the roles that their people are to have in a group here.

pub mod ldap;
pub mod saml;
