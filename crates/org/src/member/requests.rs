//! People who ask to become members, and what they are answered.

use db::{
    Tx, each_backend, error,
    schema::{access_requests, users},
};
use diesel::prelude::*;
use kernel::{
    AccessLevel, Error, Result, Ts,
    ids::{AccessRequestId, NamespaceId, ProjectId, UserId},
    page::{Page, PageRequest, Total},
};

use super::{
    Event, Member, MemberSource, NewMember, Source, State, Step,
    event::Fact,
    letters,
    member_source::Lineage,
    rules::{self, Newness, Terms},
    steps::{ensure_step, insert},
    store::MemberStore,
};
use crate::{
    access,
    project::settings::SettingsStore,
    user::{User, store::UserStore},
};

#[derive(Clone, Debug, Queryable, Selectable)]
#[diesel(table_name = access_requests, check_for_backend(db::AnyBackend))]
pub struct AccessRequest {
    pub id: AccessRequestId,
    pub project_id: Option<ProjectId>,
    pub namespace_id: Option<NamespaceId>,
    pub user_id: UserId,
    pub created_at: Ts,
}

/// A request with whose it is.
pub type RequestWithUser = (AccessRequest, User);

/// Asks to become a member, where outsiders may ask.
pub fn ask(tx: &mut Tx<'_>, place: MemberSource) -> Result<RequestWithUser> {
    let user = tx.user(place.actor().user()?)?;
    let lineage = Lineage::of(tx, place.source)?;
    // A membership that waits for approval gives no role, and is one all the same.
    let known = tx.find_member(place.source, user.id)?.is_some();
    if known || user.bot || !is_open(tx, &lineage)? {
        return Err(Error::forbidden());
    }
    if find(tx, place.source, user.id)?.is_some() {
        return Err(Error::invalid("user_id", "already exists in source"));
    }
    let (project, group) = place.source.columns();
    let row = (
        access_requests::project_id.eq(project),
        access_requests::namespace_id.eq(group),
        access_requests::user_id.eq(user.id),
        access_requests::created_at.eq(tx.now),
    );
    let insert = diesel::insert_into(access_requests::table).values(row);
    let request: AccessRequest = each_backend!(tx, |conn| insert
        .returning(AccessRequest::as_returning())
        .get_result(conn)
        .map_err(error("Access Request")))?;
    tx.emit(Event::Requested(fact(&place, &user)))?;
    letters::requested(tx, &lineage, &user)?;
    Ok((request, user))
}

fn fact(place: &MemberSource, user: &User) -> Fact {
    Fact::new(place.source, user.id, AccessLevel::NoAccess, None, place.actor().id)
}

/// Whether outsiders may ask at all.
fn is_open(tx: &mut Tx<'_>, lineage: &Lineage) -> Result<bool> {
    match lineage.source() {
        Source::Project(id) => Ok(tx.project_settings(id)?.request_access_enabled),
        Source::Group(_) => {
            Ok(lineage.home().is_some_and(|group| group.settings().request_access_enabled))
        }
    }
}

fn find(tx: &mut Tx<'_>, source: Source, user: UserId) -> Result<Option<AccessRequest>> {
    let theirs = access_requests::table.filter(access_requests::user_id.eq(user));
    match source {
        Source::Project(id) => {
            let query = theirs.filter(access_requests::project_id.eq(id));
            each_backend!(tx, |conn| query
                .select(AccessRequest::as_select())
                .get_result(conn)
                .optional()
                .map_err(error("Access Request")))
        }
        Source::Group(id) => {
            let query = theirs.filter(access_requests::namespace_id.eq(id));
            each_backend!(tx, |conn| query
                .select(AccessRequest::as_select())
                .get_result(conn)
                .optional()
                .map_err(error("Access Request")))
        }
    }
}

/// Who asks, the first to ask first.
pub fn list(
    tx: &mut Tx<'_>,
    place: MemberSource,
    page: PageRequest,
) -> Result<Page<RequestWithUser>> {
    if !place.may_manage() {
        return Err(Error::forbidden());
    }
    let (project, group) = place.source.columns();
    let (project, group) = (project.unwrap_or(ProjectId(0)), group.unwrap_or(NamespaceId(0)));
    let here = access_requests::project_id.eq(project).or(access_requests::namespace_id.eq(group));
    let query = access_requests::table.inner_join(users::table).filter(here);
    let items = each_backend!(tx, |conn| query
        .order_by(access_requests::id)
        .select((AccessRequest::as_select(), User::as_select()))
        .limit(page.per_page)
        .offset(page.offset())
        .load(conn)
        .map_err(error("Access Request")))?;
    let total: i64 = each_backend!(tx, |conn| access_requests::table
        .filter(here)
        .count()
        .get_result(conn)
        .map_err(error("Access Request")))?;
    Ok(Page { items, total: Total::Counted(total) })
}

/// Lets somebody in who asked.
pub fn approve(tx: &mut Tx<'_>, place: MemberSource, user: UserId, level: i64) -> Result<Member> {
    if !place.may_manage() {
        return Err(Error::forbidden());
    }
    access::lock_access_projection(tx)?;
    find(tx, place.source, user)?.ok_or_else(Error::missing)?;
    let (lineage, user) = (Lineage::of(tx, place.source)?, tx.user(user)?);
    let terms = Terms { level, expires_at: None };
    let (level, faults) = rules::check(tx, &lineage, place.source, &user, terms, Newness::Known)?;
    faults.into_result()?;
    if level > place.level() {
        return Err(Error::forbidden());
    }
    ensure_step(State::Requested, Step::Approve)?;
    end(tx, place.source, user.id)?;
    let new = NewMember {
        source: place.source,
        user_id: user.id,
        access_level: level,
        expires_at: None,
        created_by: place.actor().id,
    };
    insert(tx, &new)?;
    letters::granted(tx, &lineage, &user, level)?;
    tx.find_member(place.source, user.id)?.ok_or_else(Error::missing)
}

/// Turns somebody away, or withdraws one's own request.
pub fn deny(
    tx: &mut Tx<'_>,
    place: MemberSource,
    user: UserId,
    unless_newer: Option<Ts>,
) -> Result<()> {
    let oneself = place.actor().id == Some(user);
    let request = find(tx, place.source, user)?.ok_or_else(Error::missing)?;
    if !oneself && !place.may_manage() {
        return Err(Error::forbidden());
    }
    request.created_at.ensure_unchanged_since(unless_newer)?;
    end(tx, place.source, user)?;
    let user = tx.user(user)?;
    tx.emit(Event::RequestDenied(fact(&place, &user)))?;
    if oneself {
        return Ok(());
    }
    let lineage = Lineage::of(tx, place.source)?;
    letters::denied(tx, &lineage, &user)
}

/// Takes a request away; false where there was none. Whoever does so may change roles next.
pub(super) fn end(tx: &mut Tx<'_>, source: Source, user: UserId) -> Result<bool> {
    access::lock_access_projection(tx)?;
    let Some(request) = find(tx, source, user)? else { return Ok(false) };
    let row = access_requests::table.find(request.id);
    each_backend!(tx, |conn| diesel::delete(row).execute(conn).map_err(error("Access Request")))?;
    Ok(true)
}
