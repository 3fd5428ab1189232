//! Groups elsewhere that a group is linked with.

use kernel::AccessLevel;
use org::linked_group::{ldap::LdapGroupLink, saml::SamlGroupLink};
use serde::Serialize;
use utoipa::ToSchema;

#[derive(Debug, Serialize, ToSchema)]
pub struct LdapGroupLinkEntity {
    cn: Option<String>,
    #[schema(value_type = i64)]
    group_access: AccessLevel,
    provider: String,
    filter: Option<String>,
}

impl From<LdapGroupLink> for LdapGroupLinkEntity {
    fn from(link: LdapGroupLink) -> Self {
        Self {
            cn: link.cn,
            group_access: link.access_level,
            provider: link.provider,
            filter: link.filter,
        }
    }
}

#[derive(Debug, Serialize, ToSchema)]
pub struct SamlGroupLinkEntity {
    name: String,
    #[schema(value_type = i64)]
    access_level: AccessLevel,
}

impl From<SamlGroupLink> for SamlGroupLinkEntity {
    fn from(link: SamlGroupLink) -> Self {
        Self { name: link.name, access_level: link.access_level }
    }
}
