//! Groups of directories and of sign-ins elsewhere, linked with groups here; and whom a group brought here.

use entities::org::{
    linked_group::{LdapGroupLinkEntity, SamlGroupLinkEntity},
    user::OwnUser,
};
use kernel::{Error, Ts, page::Total};
use org::{
    linked_group::{
        ldap::{self, DirectoryQuery},
        saml,
    },
    policy::{AdminGroup, ReadProvisionedUsers},
    user::{
        account::AccountStore,
        list::{Order, UserFilter, UserLists},
    },
};

use super::member_params::Level;
use crate::{
    app::App,
    error::ApiResult,
    extract::{Call, params::OnlyPage},
    params,
    present::{Created, Json, NoContent, PagedList},
    routes,
};

routes! { "Groups elsewhere" at "/groups/{id}";
    GET    "/ldap_group_links"                   => list_ldap        : AdminGroup,
    POST   "/ldap_group_links"                   => add_ldap         : AdminGroup,
    DELETE "/ldap_group_links"                   => remove_ldap      : AdminGroup,
    DELETE "/ldap_group_links/{cn}"              => remove_named     : AdminGroup,
    DELETE "/ldap_group_links/{provider}/{cn}"   => remove_named     : AdminGroup,
    GET    "/saml_group_links"                   => list_saml        : AdminGroup,
    POST   "/saml_group_links"                   => add_saml         : AdminGroup,
    GET    "/saml_group_links/{saml_group_name}" => show_saml        : AdminGroup,
    DELETE "/saml_group_links/{saml_group_name}" => remove_saml      : AdminGroup,
    GET    "/provisioned_users"                  => list_provisioned : ReadProvisionedUsers,
}

params! {
    struct NewLdapLink {
        /// Common name (CN) of an LDAP group.
        cn: Option<String>,
        /// LDAP filter; replaces `cn`.
        filter: Option<String>,
        group_access: Level,
        provider: String,
    } with exactly_one("cn", "filter");
}
params! {
    struct OldLdapLink {
        cn: Option<String>,
        filter: Option<String>,
        provider: String,
    } with exactly_one("cn", "filter");
}
params! { struct NamedLdapLink { provider: Option<String>, cn: String } }
params! { struct NewSamlLink { saml_group_name: String, access_level: Level } }
params! { struct OneSamlLink { saml_group_name: String } }
params! {
    struct ListProvisionedUsers: paged {
        username: Option<String>,
        /// Part of the name or username, or the exact public e-mail address.
        search: Option<String>,
        active: bool = false,
        blocked: bool = false,
        created_after: Option<Ts>,
        created_before: Option<Ts>,
    }
}

/// One of the two was given.
fn whose(cn: Option<String>, filter: Option<String>) -> DirectoryQuery {
    match filter {
        Some(filter) => DirectoryQuery::Filtered(filter),
        None => DirectoryQuery::Named(cn.unwrap_or_default()),
    }
}

async fn list_ldap(
    app: App,
    call: Call<AdminGroup, OnlyPage>,
) -> ApiResult<PagedList<LdapGroupLinkEntity>> {
    let (grant, page) = (call.grant, call.page);
    let found = app.db.read(move |tx| ldap::list(tx, &grant, page)).await?;
    if found.total == Total::Counted(0) {
        return Err(Error::missing().whole("No linked LDAP groups found").into());
    }
    Ok(PagedList(found.map(LdapGroupLinkEntity::from)))
}

async fn add_ldap(
    app: App,
    call: Call<AdminGroup, NewLdapLink>,
) -> ApiResult<Created<LdapGroupLinkEntity>> {
    let (grant, NewLdapLink { cn, filter, group_access, provider }) = (call.grant, call.params);
    let whose = whose(cn, filter);
    let made =
        app.db.write(move |tx| ldap::add(tx, &grant, provider.clone(), &whose, group_access.0));
    Ok(Created(made.await?.into()))
}

async fn remove_ldap(app: App, call: Call<AdminGroup, OldLdapLink>) -> ApiResult<NoContent> {
    let (grant, OldLdapLink { cn, filter, provider }) = (call.grant, call.params);
    let whose = whose(cn, filter);
    app.db.write(move |tx| ldap::remove(tx, &grant, Some(&provider), &whose)).await?;
    Ok(NoContent)
}

async fn remove_named(app: App, call: Call<AdminGroup, NamedLdapLink>) -> ApiResult<NoContent> {
    let (grant, NamedLdapLink { provider, cn }) = (call.grant, call.params);
    let whose = DirectoryQuery::Named(cn);
    app.db.write(move |tx| ldap::remove(tx, &grant, provider.as_deref(), &whose)).await?;
    Ok(NoContent)
}

async fn list_saml(
    app: App,
    call: Call<AdminGroup, OnlyPage>,
) -> ApiResult<PagedList<SamlGroupLinkEntity>> {
    let (grant, page) = (call.grant, call.page);
    let found = app.db.read(move |tx| saml::list(tx, &grant, page)).await?;
    Ok(PagedList(found.map(SamlGroupLinkEntity::from)))
}

async fn add_saml(
    app: App,
    call: Call<AdminGroup, NewSamlLink>,
) -> ApiResult<Created<SamlGroupLinkEntity>> {
    let (grant, NewSamlLink { saml_group_name, access_level }) = (call.grant, call.params);
    let made =
        app.db.write(move |tx| saml::add(tx, &grant, &saml_group_name, access_level.0)).await?;
    Ok(Created(made.into()))
}

async fn show_saml(
    app: App,
    call: Call<AdminGroup, OneSamlLink>,
) -> ApiResult<Json<SamlGroupLinkEntity>> {
    let (grant, name) = (call.grant, call.params.saml_group_name);
    Ok(Json(app.db.peek(move |tx| saml::link(tx, &grant, &name)).await?.into()))
}

async fn remove_saml(app: App, call: Call<AdminGroup, OneSamlLink>) -> ApiResult<NoContent> {
    let (grant, name) = (call.grant, call.params.saml_group_name);
    app.db.write(move |tx| saml::remove(tx, &grant, &name)).await?;
    Ok(NoContent)
}

async fn list_provisioned(
    app: App,
    call: Call<ReadProvisionedUsers, ListProvisionedUsers>,
) -> ApiResult<PagedList<OwnUser>> {
    let (actor, page, given) = (call.grant.actor(), call.page, call.params);
    let filter = UserFilter {
        provisioned_by: Some(call.grant.group()),
        username: given.username.filter(|name| !name.is_empty()),
        search: given.search.filter(|term| !term.is_empty()),
        any_email: actor.admin,
        active: given.active,
        blocked: given.blocked,
        created_after: given.created_after,
        created_before: given.created_before,
        order: Order::Id,
        descending: true,
        ..UserFilter::default()
    };
    let found = app.db.read(move |tx| {
        tx.users(&filter, page)?.try_map_all(|users| tx.full_users(users, actor.id))
    });
    Ok(PagedList(found.await?.map(|full| OwnUser::new(&app.urls, &full))))
}
