//! Groups of an LDAP directory, by their common names or by a filter.

use db::{CountOf, Tx, each_backend, error, schema::ldap_group_links as links};
use diesel::prelude::*;
use kernel::{
    AccessLevel, Error, Grant, Result,
    audit::{AuditPlace, AuditRecord},
    ids::NamespaceId,
    page::{COUNT_LIMIT, Page, PageRequest, Total},
};

use crate::{
    faults::Faults, member::rules::role, policy::AdminGroup, settings::store::SettingsStore as _,
    token::actions::sentence,
};

const ABSENT: &str = "Linked LDAP group not found";

#[derive(Clone, Debug, Queryable, Selectable)]
#[diesel(table_name = links, check_for_backend(db::AnyBackend))]
pub struct LdapGroupLink {
    pub id: i64,
    pub provider: String,
    /// The name of a group there; none where a filter says who is meant.
    pub cn: Option<String>,
    pub filter: Option<String>,
    pub access_level: AccessLevel,
}

/// An LDAP group or filter.
#[derive(Clone, Debug)]
pub enum DirectoryQuery {
    Named(String),
    Filtered(String),
}

impl DirectoryQuery {
    fn field(&self) -> (&'static str, &str) {
        match self {
            Self::Named(cn) => ("cn", cn),
            Self::Filtered(filter) => ("filter", filter),
        }
    }
}

/// The links of a group with whom `whose` names, in the order in which they were made.
macro_rules! those {
    ($group:expr, $whose:expr) => {{
        let here =
            links::table.filter(links::namespace_id.eq($group)).order(links::id).into_boxed();
        match $whose {
            DirectoryQuery::Named(cn) => here.filter(links::cn.eq(cn)),
            DirectoryQuery::Filtered(filter) => here.filter(links::filter.eq(filter)),
        }
    }};
}

fn find(
    tx: &mut Tx<'_>,
    group: NamespaceId,
    provider: Option<&str>,
    whose: &DirectoryQuery,
) -> Result<Option<i64>> {
    each_backend!(tx, |conn| {
        let mut found = those!(group, whose);
        if let Some(provider) = provider {
            found = found.filter(links::provider.eq(provider));
        }
        found.select(links::id).first(conn).optional().map_err(error("Link"))
    })
}

/// Owners manage links only where the installation lets them.
fn ensure_may_manage(tx: &mut Tx<'_>, grant: &Grant<AdminGroup>) -> Result<()> {
    match grant.actor().admin || tx.settings()?.allow_group_owners_to_manage_ldap() {
        true => Ok(()),
        false => Err(Error::forbidden()),
    }
}

pub fn list(
    tx: &mut Tx<'_>,
    grant: &Grant<AdminGroup>,
    page: PageRequest,
) -> Result<Page<LdapGroupLink>> {
    let here = links::table.filter(links::namespace_id.eq(grant.group()));
    let items: Vec<LdapGroupLink> = each_backend!(tx, |conn| here
        .order(links::id)
        .limit(page.per_page)
        .offset(page.offset())
        .select(LdapGroupLink::as_select())
        .load(conn)
        .map_err(error("Link")))?;
    let count = CountOf(here.select(links::id).limit(COUNT_LIMIT + 1));
    let total = each_backend!(tx, |conn| count.get_result(conn).map_err(error("Link")))?;
    Ok(Page { items, total: Total::Counted(total) })
}

/// Links a group with one elsewhere; each is linked once.
pub fn add(
    tx: &mut Tx<'_>,
    grant: &Grant<AdminGroup>,
    provider: String,
    whose: &DirectoryQuery,
    level: AccessLevel,
) -> Result<LdapGroupLink> {
    ensure_may_manage(tx, grant)?;
    let group = grant.group();
    let (field, text) = whose.field();
    let mut faults = Faults::default();
    if text.trim().is_empty() {
        faults.add(field, "can't be blank");
    }
    faults.at_most(field, Some(text), 255);
    if provider.trim().is_empty() {
        faults.add("provider", "can't be blank");
    }
    faults.at_most("provider", Some(&provider), 255);
    if find(tx, group, Some(&provider), whose)?.is_some() {
        faults.add(field, "has already been taken");
    }
    if let Some(why) = sentence(faults) {
        return Err(Error::conflict().whole(why));
    }
    let (cn, filter) = match whose {
        DirectoryQuery::Named(cn) => (Some(cn), None),
        DirectoryQuery::Filtered(filter) => (None, Some(filter)),
    };
    let row = (
        links::namespace_id.eq(group),
        links::provider.eq(provider),
        links::cn.eq(cn),
        links::filter.eq(filter),
        links::access_level.eq(level),
        links::created_at.eq(tx.now),
        links::updated_at.eq(tx.now),
    );
    let row = diesel::insert_into(links::table).values(row);
    let made: LdapGroupLink = each_backend!(tx, |conn| row
        .returning(LdapGroupLink::as_returning())
        .get_result(conn)
        .map_err(error("Link")))?;
    let place = AuditPlace::Group(group);
    let added = AuditRecord::addition("ldap_group_link_created", place, "ldap_group_link")
        .detail("as", role(level));
    tx.mention(added.target("LdapGroupLink", made.id, text));
    Ok(made)
}

/// Ends a link; without a provider the first that has the name.
pub fn remove(
    tx: &mut Tx<'_>,
    grant: &Grant<AdminGroup>,
    provider: Option<&str>,
    whose: &DirectoryQuery,
) -> Result<()> {
    ensure_may_manage(tx, grant)?;
    let found = find(tx, grant.group(), provider, whose)?;
    let id = found.ok_or_else(|| Error::missing().whole(ABSENT))?;
    let row = diesel::delete(links::table.find(id));
    each_backend!(tx, |conn| row.execute(conn).map_err(error("Link")))?;
    let place = AuditPlace::Group(grant.group());
    let removed = AuditRecord::removal("ldap_group_link_removed", place, "ldap_group_link");
    tx.mention(removed.target("LdapGroupLink", id, whose.field().1));
    Ok(())
}
