//! Reading people.

use std::collections::HashMap;

use db::{Tx, each_backend, error, schema::users};
use diesel::prelude::*;
use kernel::{Result, ids::UserId};

use super::User;

pub trait UserStore {
    fn user(&mut self, id: UserId) -> Result<User>;
    fn find_user(&mut self, id: UserId) -> Result<Option<User>>;
    /// Letter case does not matter.
    fn find_user_named(&mut self, username: &str) -> Result<Option<User>>;
    /// All users of a page at once.
    fn users_by_id(&mut self, ids: &[UserId]) -> Result<HashMap<UserId, User>>;
}

impl UserStore for Tx<'_> {
    fn user(&mut self, id: UserId) -> Result<User> {
        let query = users::table.find(id);
        each_backend!(self, |conn| query
            .select(User::as_select())
            .get_result(conn)
            .map_err(error("User")))
    }

    fn find_user(&mut self, id: UserId) -> Result<Option<User>> {
        let query = users::table.find(id);
        each_backend!(self, |conn| query
            .select(User::as_select())
            .get_result(conn)
            .optional()
            .map_err(error("User")))
    }

    fn find_user_named(&mut self, username: &str) -> Result<Option<User>> {
        let query = users::table.filter(users::username_key.eq(username.to_lowercase()));
        each_backend!(self, |conn| query
            .select(User::as_select())
            .get_result(conn)
            .optional()
            .map_err(error("User")))
    }

    fn users_by_id(&mut self, ids: &[UserId]) -> Result<HashMap<UserId, User>> {
        let rows: Vec<User> = each_backend!(self, |conn| users::table
            .filter(users::id.eq_any(ids))
            .select(User::as_select())
            .load(conn)
            .map_err(error("User")))?;
        Ok(rows.into_iter().map(|user| (user.id, user)).collect())
    }
}
