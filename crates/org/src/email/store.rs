//! Reading and keeping further addresses.

use std::collections::HashSet;

use db::{
    CountOf, OneOf as _, Tx, each_backend, error,
    schema::{user_emails, users},
};
use diesel::prelude::*;
use kernel::{
    Result, Ts,
    ids::{EmailId, UserId},
    page::{COUNT_LIMIT, Page, PageRequest, Total},
};

use super::Email;
use crate::token::Secret;

pub trait EmailStore {
    fn emails(&mut self, user: UserId, page: PageRequest) -> Result<Page<Email>>;
    fn email(&mut self, user: UserId, id: EmailId) -> Result<Email>;
    /// Whose address this is, primary or not, confirmed or not. Letter case does not matter.
    fn find_holder(&mut self, address: &str) -> Result<Option<UserId>>;
    /// Whose confirmed address this is.
    fn find_confirmed_holder(&mut self, address: &str) -> Result<Option<UserId>>;
    /// Those of these addresses, all in lower case, that somebody has shown to be theirs.
    fn confirmed_among(&mut self, addresses: &[String]) -> Result<HashSet<String>>;
    /// Every address of these people that was confirmed, in lower case.
    fn confirmed_addresses(&mut self, users: &[UserId]) -> Result<Vec<(UserId, String)>>;
    fn insert_email(
        &mut self,
        user: UserId,
        address: &str,
        confirmed_at: Option<Ts>,
    ) -> Result<Email>;
    fn find_email(&mut self, id: EmailId) -> Result<Option<Email>>;
    /// Keeps the secret of the link that is being sent.
    fn save_confirmation(&mut self, id: EmailId, secret: &Secret) -> Result<()>;
    fn find_email_to_confirm(&mut self, secret: &Secret) -> Result<Option<Email>>;
    fn confirm_email(&mut self, id: EmailId) -> Result<()>;
    fn delete_email(&mut self, id: EmailId) -> Result<()>;
}

impl EmailStore for Tx<'_> {
    fn emails(&mut self, user: UserId, page: PageRequest) -> Result<Page<Email>> {
        let theirs = user_emails::table.filter(user_emails::user_id.eq(user));
        let items: Vec<Email> = each_backend!(self, |conn| theirs
            .order(user_emails::id)
            .limit(page.per_page)
            .offset(page.offset())
            .select(Email::as_select())
            .load(conn)
            .map_err(error("Email")))?;
        let count = CountOf(theirs.select(user_emails::id).limit(COUNT_LIMIT + 1));
        let total = each_backend!(self, |conn| count.get_result(conn).map_err(error("Email")))?;
        Ok(Page { items, total: Total::Counted(total) })
    }

    fn email(&mut self, user: UserId, id: EmailId) -> Result<Email> {
        let row = user_emails::table.find(id).filter(user_emails::user_id.eq(user));
        each_backend!(self, |conn| row
            .select(Email::as_select())
            .get_result(conn)
            .map_err(error("Email")))
    }

    fn find_holder(&mut self, address: &str) -> Result<Option<UserId>> {
        let key = address.to_lowercase();
        let primary = users::table.filter(users::email_key.eq(&key)).select(users::id);
        let first: Option<UserId> =
            each_backend!(self, |conn| primary.get_result(conn).optional().map_err(error("User")))?;
        if first.is_some() {
            return Ok(first);
        }
        let further =
            user_emails::table.filter(user_emails::email_key.eq(key)).select(user_emails::user_id);
        each_backend!(self, |conn| further.get_result(conn).optional().map_err(error("Email")))
    }

    fn find_confirmed_holder(&mut self, address: &str) -> Result<Option<UserId>> {
        let key = address.to_lowercase();
        let primary = users::table
            .filter(users::email_key.eq(&key))
            .filter(users::confirmed_at.is_not_null())
            .select(users::id);
        let first: Option<UserId> =
            each_backend!(self, |conn| primary.get_result(conn).optional().map_err(error("User")))?;
        if first.is_some() {
            return Ok(first);
        }
        let further = user_emails::table
            .filter(user_emails::email_key.eq(key))
            .filter(user_emails::confirmed_at.is_not_null())
            .select(user_emails::user_id);
        each_backend!(self, |conn| further.get_result(conn).optional().map_err(error("Email")))
    }

    fn confirmed_among(&mut self, addresses: &[String]) -> Result<HashSet<String>> {
        let primary = users::table
            .filter(users::email_key.one_of(addresses))
            .filter(users::confirmed_at.is_not_null())
            .select(users::email_key);
        let mut found: Vec<String> =
            each_backend!(self, |conn| primary.load(conn).map_err(error("User")))?;
        let further = user_emails::table
            .filter(user_emails::email_key.one_of(addresses))
            .filter(user_emails::confirmed_at.is_not_null())
            .select(user_emails::email_key);
        let further: Vec<String> =
            each_backend!(self, |conn| further.load(conn).map_err(error("Email")))?;
        found.extend(further);
        Ok(found.into_iter().collect())
    }

    fn confirmed_addresses(&mut self, of: &[UserId]) -> Result<Vec<(UserId, String)>> {
        let primary = users::table
            .filter(users::id.one_of(of))
            .filter(users::confirmed_at.is_not_null())
            .select((users::id, users::email_key));
        let mut found: Vec<(UserId, String)> =
            each_backend!(self, |conn| primary.load(conn).map_err(error("User")))?;
        let further = user_emails::table
            .filter(user_emails::user_id.one_of(of))
            .filter(user_emails::confirmed_at.is_not_null())
            .select((user_emails::user_id, user_emails::email_key));
        let further: Vec<(UserId, String)> =
            each_backend!(self, |conn| further.load(conn).map_err(error("Email")))?;
        found.extend(further);
        Ok(found)
    }

    fn insert_email(
        &mut self,
        user: UserId,
        address: &str,
        confirmed_at: Option<Ts>,
    ) -> Result<Email> {
        let row = (
            user_emails::user_id.eq(user),
            user_emails::email.eq(address),
            user_emails::email_key.eq(address.to_lowercase()),
            user_emails::confirmed_at.eq(confirmed_at),
            user_emails::created_at.eq(self.now),
            user_emails::updated_at.eq(self.now),
        );
        let insert = diesel::insert_into(user_emails::table).values(row);
        each_backend!(self, |conn| insert
            .returning(Email::as_returning())
            .get_result(conn)
            .map_err(error("Email")))
    }

    fn find_email(&mut self, id: EmailId) -> Result<Option<Email>> {
        let row = user_emails::table.find(id);
        each_backend!(self, |conn| row
            .select(Email::as_select())
            .get_result(conn)
            .optional()
            .map_err(error("Email")))
    }

    fn save_confirmation(&mut self, id: EmailId, secret: &Secret) -> Result<()> {
        let changes = (
            user_emails::confirmation_digest.eq(Some(secret.digest())),
            user_emails::confirmation_sent_at.eq(Some(self.now)),
        );
        let update = diesel::update(user_emails::table.find(id)).set(changes);
        each_backend!(self, |conn| update.execute(conn).map_err(error("Email")))?;
        Ok(())
    }

    fn find_email_to_confirm(&mut self, secret: &Secret) -> Result<Option<Email>> {
        let row =
            user_emails::table.filter(user_emails::confirmation_digest.eq(Some(secret.digest())));
        each_backend!(self, |conn| row
            .select(Email::as_select())
            .get_result(conn)
            .optional()
            .map_err(error("Email")))
    }

    fn confirm_email(&mut self, id: EmailId) -> Result<()> {
        let changes = (
            user_emails::confirmed_at.eq(Some(self.now)),
            user_emails::confirmation_digest.eq(None::<String>),
            user_emails::updated_at.eq(self.now),
        );
        let update = diesel::update(user_emails::table.find(id)).set(changes);
        each_backend!(self, |conn| update.execute(conn).map_err(error("Email")))?;
        Ok(())
    }

    fn delete_email(&mut self, id: EmailId) -> Result<()> {
        let gone = diesel::delete(user_emails::table.find(id));
        each_backend!(self, |conn| gone.execute(conn).map_err(error("Email")))?;
        Ok(())
    }
}
