//! Groups that a sign-in by SAML tells of, by their names.

use db::{CountOf, Tx, each_backend, error, schema::saml_group_links as links};
use diesel::prelude::*;
use kernel::{
    AccessLevel, Error, Grant, Result,
    audit::{AuditPlace, AuditRecord},
    page::{COUNT_LIMIT, Page, PageRequest, Total},
};

use crate::{faults::Faults, member::rules::role, policy::AdminGroup};

const ABSENT: &str = "Linked SAML group link not found";

#[derive(Clone, Debug, Queryable, Selectable)]
#[diesel(table_name = links, check_for_backend(db::AnyBackend))]
pub struct SamlGroupLink {
    pub id: i64,
    pub name: String,
    pub access_level: AccessLevel,
}

pub fn list(
    tx: &mut Tx<'_>,
    grant: &Grant<AdminGroup>,
    page: PageRequest,
) -> Result<Page<SamlGroupLink>> {
    let here = links::table.filter(links::namespace_id.eq(grant.group()));
    let items: Vec<SamlGroupLink> = each_backend!(tx, |conn| here
        .order(links::id)
        .limit(page.per_page)
        .offset(page.offset())
        .select(SamlGroupLink::as_select())
        .load(conn)
        .map_err(error("Link")))?;
    let count = CountOf(here.select(links::id).limit(COUNT_LIMIT + 1));
    let total = each_backend!(tx, |conn| count.get_result(conn).map_err(error("Link")))?;
    Ok(Page { items, total: Total::Counted(total) })
}

fn find_named(
    tx: &mut Tx<'_>,
    grant: &Grant<AdminGroup>,
    name: &str,
) -> Result<Option<SamlGroupLink>> {
    let row =
        links::table.filter(links::namespace_id.eq(grant.group())).filter(links::name.eq(name));
    each_backend!(tx, |conn| row
        .select(SamlGroupLink::as_select())
        .get_result(conn)
        .optional()
        .map_err(error("Link")))
}

pub fn link(tx: &mut Tx<'_>, grant: &Grant<AdminGroup>, name: &str) -> Result<SamlGroupLink> {
    find_named(tx, grant, name)?.ok_or_else(|| Error::missing().whole(ABSENT))
}

/// Links a group with one elsewhere; each is linked once.
pub fn add(
    tx: &mut Tx<'_>,
    grant: &Grant<AdminGroup>,
    name: &str,
    level: AccessLevel,
) -> Result<SamlGroupLink> {
    let mut faults = Faults::default();
    if name.trim().is_empty() {
        faults.add("saml_group_name", "can't be blank");
    }
    faults.at_most("saml_group_name", Some(name), 255);
    if find_named(tx, grant, name)?.is_some() {
        faults.add("saml_group_name", "has already been taken");
    }
    faults.into_result()?;
    let row = (
        links::namespace_id.eq(grant.group()),
        links::name.eq(name),
        links::access_level.eq(level),
        links::created_at.eq(tx.now),
        links::updated_at.eq(tx.now),
    );
    let row = diesel::insert_into(links::table).values(row);
    let made: SamlGroupLink = each_backend!(tx, |conn| row
        .returning(SamlGroupLink::as_returning())
        .get_result(conn)
        .map_err(error("Link")))?;
    let place = AuditPlace::Group(grant.group());
    let added = AuditRecord::addition("saml_group_links_created", place, "saml_group_link")
        .detail("as", role(level));
    tx.mention(added.target("SamlGroupLink", made.id, &made.name));
    Ok(made)
}

pub fn remove(tx: &mut Tx<'_>, grant: &Grant<AdminGroup>, name: &str) -> Result<()> {
    let found = link(tx, grant, name)?;
    let row = diesel::delete(links::table.find(found.id));
    each_backend!(tx, |conn| row.execute(conn).map_err(error("Link")))?;
    let place = AuditPlace::Group(grant.group());
    let removed = AuditRecord::removal("saml_group_links_removed", place, "saml_group_link");
    tx.mention(removed.target("SamlGroupLink", found.id, found.name));
    Ok(())
}
