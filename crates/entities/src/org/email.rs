//! A further address of a person.

use kernel::Ts;
use org::email::Email;
use serde::Serialize;
use utoipa::ToSchema;

#[derive(Debug, Serialize, ToSchema)]
pub struct EmailEntity {
    id: i64,
    email: String,
    #[schema(value_type = Option<String>)]
    confirmed_at: Option<Ts>,
}

impl From<Email> for EmailEntity {
    fn from(email: Email) -> Self {
        Self { id: email.id.0, email: email.email, confirmed_at: email.confirmed_at }
    }
}
