//! Applications and their codes in the database.

use db::{
    CountOf, Tx, each_backend, error,
    schema::{oauth_applications as applications, oauth_codes as codes},
};
use diesel::{prelude::*, sql_types::Bool};
use kernel::{
    Result, Ts,
    ids::{ApplicationId, TokenId, UserId},
    page::{COUNT_LIMIT, Page, PageRequest, Total},
};

use super::{Application, AuthorizationCode, authorization::NewCode};
use crate::token::Secret;

const NOUN: &str = "Application";
const CODE: &str = "Code";

pub trait ApplicationStore {
    /// Those of somebody, or of the installation; the oldest first.
    fn applications(
        &mut self,
        owner: Option<UserId>,
        page: PageRequest,
    ) -> Result<Page<Application>>;
    /// How many somebody has.
    fn count_applications(&mut self, owner: UserId) -> Result<i64>;
    fn find_application(&mut self, id: ApplicationId) -> Result<Option<Application>>;
    /// The one that calls itself so.
    fn find_client(&mut self, uid: &str) -> Result<Option<Application>>;
    fn insert_application(&mut self, new: &Application) -> Result<Application>;
    /// Takes one away, with its codes and tokens.
    fn delete_application(&mut self, id: ApplicationId) -> Result<()>;
    fn insert_code(&mut self, new: &NewCode<'_>) -> Result<()>;
    fn find_code(&mut self, secret: &Secret) -> Result<Option<AuthorizationCode>>;
    /// Notes what came of a code; false where something had already.
    fn use_code(&mut self, id: i64, family: TokenId) -> Result<bool>;
    /// Forgets those that ended before.
    fn delete_codes_before(&mut self, end: Ts) -> Result<()>;
}

impl ApplicationStore for Tx<'_> {
    fn applications(
        &mut self,
        owner: Option<UserId>,
        page: PageRequest,
    ) -> Result<Page<Application>> {
        // Nobody's applications are the installation's.
        let nobody = || owner.is_none().into_sql::<Bool>();
        let of =
            || applications::owner_id.eq(owner).or(applications::owner_id.is_null().and(nobody()));
        each_backend!(self, |conn| {
            let items = applications::table
                .filter(of())
                .order(applications::id)
                .limit(page.per_page)
                .offset(page.offset())
                .select(Application::as_select())
                .load(conn)
                .map_err(error(NOUN))?;
            let counted = CountOf(
                applications::table.filter(of()).select(applications::id).limit(COUNT_LIMIT + 1),
            );
            let total: i64 = counted.get_result(conn).map_err(error(NOUN))?;
            Ok(Page { items, total: Total::Counted(total) })
        })
    }

    fn count_applications(&mut self, owner: UserId) -> Result<i64> {
        let own = applications::table.filter(applications::owner_id.eq(owner));
        each_backend!(self, |conn| own.count().get_result(conn).map_err(error(NOUN)))
    }

    fn find_application(&mut self, id: ApplicationId) -> Result<Option<Application>> {
        let row = applications::table.find(id);
        each_backend!(self, |conn| row
            .select(Application::as_select())
            .get_result(conn)
            .optional()
            .map_err(error(NOUN)))
    }

    fn find_client(&mut self, uid: &str) -> Result<Option<Application>> {
        let row = applications::table.filter(applications::uid.eq(uid));
        each_backend!(self, |conn| row
            .select(Application::as_select())
            .get_result(conn)
            .optional()
            .map_err(error(NOUN)))
    }

    fn insert_application(&mut self, new: &Application) -> Result<Application> {
        let row = (
            applications::uid.eq(&new.uid),
            applications::name.eq(&new.name),
            applications::secret_digest.eq(&new.secret_digest),
            applications::redirect_uri.eq(&new.redirect_uri),
            applications::scopes.eq(&new.scope_words),
            applications::trusted.eq(new.trusted),
            applications::confidential.eq(new.confidential),
            applications::created_at.eq(new.created_at),
            applications::updated_at.eq(new.updated_at),
            applications::owner_id.eq(new.owner_id),
        );
        let insert = diesel::insert_into(applications::table).values(row);
        each_backend!(self, |conn| insert
            .returning(Application::as_returning())
            .get_result(conn)
            .map_err(error(NOUN)))
    }

    fn delete_application(&mut self, id: ApplicationId) -> Result<()> {
        let row = diesel::delete(applications::table.find(id));
        each_backend!(self, |conn| row.execute(conn).map_err(error(NOUN)))?;
        Ok(())
    }

    fn insert_code(&mut self, new: &NewCode<'_>) -> Result<()> {
        let challenge = new.consent.challenge.as_ref();
        let row = (
            codes::digest.eq(new.secret.digest()),
            codes::application_id.eq(new.consent.application.id),
            codes::user_id.eq(new.user),
            codes::redirect_uri.eq(&new.consent.redirect_uri),
            codes::scopes.eq(new.scopes.to_string()),
            codes::challenge.eq(challenge.map(|challenge| challenge.text.as_str())),
            codes::challenge_method.eq(challenge.map(|challenge| challenge.method)),
            codes::nonce.eq(new.consent.nonce.as_deref()),
            codes::created_at.eq(self.now),
            codes::expires_at.eq(new.expires_at),
        );
        let insert = diesel::insert_into(codes::table).values(row);
        each_backend!(self, |conn| insert.execute(conn).map_err(error(CODE)))?;
        Ok(())
    }

    fn find_code(&mut self, secret: &Secret) -> Result<Option<AuthorizationCode>> {
        // The digest is what the index compares, so the time taken tells nothing about the code.
        let row = codes::table.filter(codes::digest.eq(secret.digest()));
        each_backend!(self, |conn| row
            .select(AuthorizationCode::as_select())
            .get_result(conn)
            .optional()
            .map_err(error(CODE)))
    }

    fn use_code(&mut self, id: i64, family: TokenId) -> Result<bool> {
        let unused = codes::table.filter(codes::id.eq(id)).filter(codes::family_id.is_null());
        let update = diesel::update(unused).set(codes::family_id.eq(Some(family)));
        let changed = each_backend!(self, |conn| update.execute(conn).map_err(error(CODE)))?;
        Ok(changed == 1)
    }

    fn delete_codes_before(&mut self, end: Ts) -> Result<()> {
        let ended = diesel::delete(codes::table.filter(codes::expires_at.lt(end)));
        each_backend!(self, |conn| ended.execute(conn).map_err(error(CODE)))?;
        Ok(())
    }
}
