//! A further address of a person.

use diesel::prelude::{Queryable, Selectable};
use kernel::{
    Ts,
    ids::{EmailId, UserId},
};

#[derive(Clone, Debug, Queryable, Selectable)]
#[diesel(table_name = db::schema::user_emails, check_for_backend(db::AnyBackend))]
pub struct Email {
    pub id: EmailId,
    pub user_id: UserId,
    pub email: String,
    /// `None` until somebody followed the link that was sent there.
    pub confirmed_at: Option<Ts>,
    pub confirmation_sent_at: Option<Ts>,
    pub updated_at: Ts,
}
