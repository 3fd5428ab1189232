//! What is known of a person.

use diesel::prelude::{Queryable, Selectable};
use kernel::{Actor, Ts, ids::UserId};

kernel::text_enum! { pub enum State {
    Active = "active", Blocked = "blocked", LdapBlocked = "ldap_blocked", Deactivated = "deactivated",
    Banned = "banned", PendingApproval = "blocked_pending_approval",
} }

#[derive(Clone, Debug, Queryable, Selectable)]
#[diesel(table_name = db::schema::users, check_for_backend(diesel::sqlite::Sqlite, diesel::pg::Pg))]
pub struct User {
    pub id: UserId,
    pub username: String,
    pub name: String,
    pub email: String,
    pub public_email: Option<String>,
    pub commit_email: Option<String>,
    pub password_hash: Option<String>,
    pub state: State,
    pub admin: bool,
    pub external: bool,
    pub bot: bool,
    pub avatar: Option<String>,
    pub created_at: Ts,
    pub updated_at: Ts,
    pub created_by: Option<UserId>,
    pub confirmed_at: Option<Ts>,
    pub current_sign_in_at: Option<Ts>,
    pub last_sign_in_at: Option<Ts>,
    pub last_activity_at: Option<Ts>,
    pub sign_in_count: i64,
    pub projects_limit: i64,
    pub can_create_group: bool,
    pub private_profile: bool,
    pub note: Option<String>,
}

impl User {
    pub fn actor(&self) -> Actor {
        Actor { id: Some(self.id), admin: self.admin, external: self.external }
    }

    /// The address that commits made through the API carry.
    pub fn git_email(&self) -> &str {
        self.commit_email.as_deref().filter(|email| !email.is_empty()).unwrap_or(&self.email)
    }
}
