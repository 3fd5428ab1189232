//! Custom attributes.

use org::custom_attribute::CustomAttribute;
use serde::Serialize;
use utoipa::ToSchema;

#[derive(Debug, Serialize, ToSchema)]
pub struct CustomAttributeEntity {
    pub key: String,
    pub value: String,
}

impl From<CustomAttribute> for CustomAttributeEntity {
    fn from(CustomAttribute { key, value }: CustomAttribute) -> Self {
        Self { key, value }
    }
}
