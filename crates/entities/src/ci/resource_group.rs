//! Jobs of which only one runs at a time.

use ci::resource_group::{ProcessMode, ResourceGroup};
use kernel::Ts;
use serde::Serialize;
use utoipa::ToSchema;

#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ResourceGroupEntity {
    pub id: i64,
    pub key: String,
    #[schema(value_type = String)]
    pub process_mode: ProcessMode,
    #[schema(value_type = String)]
    pub created_at: Ts,
    #[schema(value_type = String)]
    pub updated_at: Ts,
}

impl From<ResourceGroup> for ResourceGroupEntity {
    fn from(group: ResourceGroup) -> Self {
        Self {
            id: group.id.0,
            key: group.key,
            process_mode: group.process_mode,
            created_at: group.created_at,
            updated_at: group.updated_at,
        }
    }
}
