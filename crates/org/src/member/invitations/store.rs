//! The rows of invitations.

use db::{OneOf as _, Tx, each_backend, error, schema::member_invitations};
use diesel::prelude::*;
use kernel::{
    AccessLevel, Result, Ts,
    ids::{InvitationId, NamespaceId, ProjectId, UserId},
    page::{Page, PageRequest, Total},
};

use super::{MemberSource, Source};
use crate::token::Secret;

#[derive(Clone, Debug, Queryable, Selectable)]
#[diesel(table_name = member_invitations, check_for_backend(db::AnyBackend))]
pub struct Invitation {
    pub id: InvitationId,
    pub project_id: Option<ProjectId>,
    pub namespace_id: Option<NamespaceId>,
    pub email: String,
    pub access_level: AccessLevel,
    pub expires_at: Option<Ts>,
    /// Of the secret in the letter.
    pub token_digest: String,
    pub created_by: Option<UserId>,
    pub created_at: Ts,
    pub updated_at: Ts,
}

/// The invitation to this address, which may have ended; letter case does not matter.
pub(super) fn find(tx: &mut Tx<'_>, source: Source, email: &str) -> Result<Option<Invitation>> {
    let theirs =
        member_invitations::table.filter(member_invitations::email_key.eq(email.to_lowercase()));
    match source {
        Source::Project(id) => {
            let query = theirs.filter(member_invitations::project_id.eq(id));
            each_backend!(tx, |conn| query
                .select(Invitation::as_select())
                .get_result(conn)
                .optional()
                .map_err(error("Invitation")))
        }
        Source::Group(id) => {
            let query = theirs.filter(member_invitations::namespace_id.eq(id));
            each_backend!(tx, |conn| query
                .select(Invitation::as_select())
                .get_result(conn)
                .optional()
                .map_err(error("Invitation")))
        }
    }
}

/// Everything that any of these addresses was invited to.
pub(super) fn to_addresses(tx: &mut Tx<'_>, keys: &[String]) -> Result<Vec<Invitation>> {
    let query = member_invitations::table
        .filter(member_invitations::email_key.one_of(keys))
        .order_by(member_invitations::id);
    each_backend!(tx, |conn| query
        .select(Invitation::as_select())
        .load(conn)
        .map_err(error("Invitation")))
}

/// How many of these addresses are invited here to what has not ended.
pub(super) fn living_to(tx: &mut Tx<'_>, source: Source, keys: &[String]) -> Result<usize> {
    let found = to_addresses(tx, keys)?;
    let now = tx.now;
    let living = found.iter().filter(|one| one.source() == source && !one.has_ended(now));
    Ok(living.count())
}

pub(super) fn find_by_digest(tx: &mut Tx<'_>, digest: &str) -> Result<Option<Invitation>> {
    let query = member_invitations::table.filter(member_invitations::token_digest.eq(digest));
    each_backend!(tx, |conn| query
        .select(Invitation::as_select())
        .get_result(conn)
        .optional()
        .map_err(error("Invitation")))
}

pub(crate) fn find_by_id(tx: &mut Tx<'_>, id: InvitationId) -> Result<Option<Invitation>> {
    let query = member_invitations::table.find(id);
    each_backend!(tx, |conn| query
        .select(Invitation::as_select())
        .get_result(conn)
        .optional()
        .map_err(error("Invitation")))
}

pub(super) fn list(
    tx: &mut Tx<'_>,
    source: Source,
    email: Option<&str>,
    page: PageRequest,
) -> Result<Page<Invitation>> {
    let now = tx.now;
    let key = email.filter(|email| !email.is_empty()).map(str::to_lowercase);
    each_backend!(tx, |conn| {
        let chosen = || {
            let ends = member_invitations::expires_at;
            let query =
                member_invitations::table.filter(ends.is_null().or(ends.gt(now))).into_boxed();
            let query = match source {
                Source::Project(id) => query.filter(member_invitations::project_id.eq(id)),
                Source::Group(id) => query.filter(member_invitations::namespace_id.eq(id)),
            };
            match &key {
                Some(key) => query.filter(member_invitations::email_key.eq(key)),
                None => query,
            }
        };
        let items: Vec<Invitation> = chosen()
            .order_by(member_invitations::id.asc())
            .select(Invitation::as_select())
            .limit(page.per_page)
            .offset(page.offset())
            .load(conn)
            .map_err(error("Invitation"))?;
        let total: i64 = chosen().count().get_result(conn).map_err(error("Invitation"))?;
        Ok(Page { items, total: Total::Counted(total) })
    })
}

/// Writes an invitation down. Its secret is made anew when the letter is sent.
pub(super) fn insert(
    tx: &mut Tx<'_>,
    place: &MemberSource,
    email: &str,
    level: AccessLevel,
    expires_at: Option<Ts>,
) -> Result<InvitationId> {
    let (project, group) = place.source.columns();
    let row = (
        member_invitations::project_id.eq(project),
        member_invitations::namespace_id.eq(group),
        member_invitations::email.eq(email),
        member_invitations::email_key.eq(email.to_lowercase()),
        member_invitations::access_level.eq(level),
        member_invitations::expires_at.eq(expires_at),
        member_invitations::token_digest.eq(Secret::generate("").digest()),
        member_invitations::created_by.eq(place.actor().id),
        member_invitations::created_at.eq(tx.now),
        member_invitations::updated_at.eq(tx.now),
    );
    let insert = diesel::insert_into(member_invitations::table).values(row);
    each_backend!(tx, |conn| insert
        .returning(member_invitations::id)
        .get_result(conn)
        .map_err(error("Invitation")))
}

pub(super) fn keep(
    tx: &mut Tx<'_>,
    id: InvitationId,
    level: AccessLevel,
    expires_at: Option<Ts>,
) -> Result<()> {
    let changes = (
        member_invitations::access_level.eq(level),
        member_invitations::expires_at.eq(expires_at),
        member_invitations::updated_at.eq(tx.now),
    );
    let update = diesel::update(member_invitations::table.find(id)).set(changes);
    each_backend!(tx, |conn| update.execute(conn).map_err(error("Invitation")))?;
    Ok(())
}

pub(crate) fn save_digest(tx: &mut Tx<'_>, id: InvitationId, digest: &str) -> Result<()> {
    let update = diesel::update(member_invitations::table.find(id))
        .set(member_invitations::token_digest.eq(digest));
    each_backend!(tx, |conn| update.execute(conn).map_err(error("Invitation")))?;
    Ok(())
}

pub(super) fn delete(tx: &mut Tx<'_>, id: InvitationId) -> Result<()> {
    let row = diesel::delete(member_invitations::table.find(id));
    each_backend!(tx, |conn| row.execute(conn).map_err(error("Invitation")))?;
    Ok(())
}

/// Invitations to memberships that would have ended by now are gone.
pub(super) fn delete_expired(tx: &mut Tx<'_>) -> Result<()> {
    let ended = member_invitations::table.filter(member_invitations::expires_at.le(tx.now));
    each_backend!(tx, |conn| diesel::delete(ended).execute(conn).map_err(error("Invitation")))?;
    Ok(())
}
