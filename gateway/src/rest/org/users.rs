//! People.

use entities::org::{
    brief_user::BriefUser,
    user::{AdminUser, Reader, SingleUser},
};
use forge::user::{account, removal::remove_now};
use kernel::{
    Actor, Error, Ts,
    access::{Administrate, Anyone},
    ids::UserId,
};
use org::{
    custom_attribute::{Subject, store::CustomAttributeStore},
    user::{
        self, Details, User, UserFilter,
        account::AccountStore,
        actions::{Changes, NewUser},
        list::{Order, TwoFactor, UserLists},
        list_rules::ensure_may_list,
        model::ExternalIdentity,
        registration::AccountStart,
        removal::{self, Removal},
        store::UserStore,
    },
};

use super::{
    custom_attribute_params::{AttributeFilter, entities},
    user_params::{ChangeUser, CreateUser, DetailParams},
};
use crate::{
    app::App,
    error::ApiResult,
    extract::{Call, Sort},
    param_enums, params,
    present::{Accepted, Created, Either, Json, NoContent, PagedList},
    routes,
};

routes! { "Users" at "/users", also [ReadUser];
    GET    ""                            => list            : Anyone,
    POST   ""                            => create          : Administrate,
    GET    "/{id}"                       => show            : Anyone,
    PUT    "/{id}"                       => update          : Administrate,
    DELETE "/{id}"                       => remove          : Administrate,
    DELETE "/{id}/identities/{provider}" => remove_identity : Administrate,
}

param_enums! { Order, TwoFactor }

params! {
    struct ListUsers: paged {
        username: Option<String>,
        search: Option<String>,
        active: bool = false,
        blocked: bool = false,
        external: bool = false,
        exclude_external: bool = false,
        exclude_internal: bool = false,
        humans: bool = false,
        without_project_bots: bool = false,
        extern_uid: Option<String>,
        provider: Option<String>,
        saml_provider_id: Option<i64>,
        created_after: Option<Ts>,
        created_before: Option<Ts>,
        order_by: Order = Order::Id,
        sort: Sort = Sort::Desc,
        two_factor: Option<TwoFactor>,
        without_projects: bool = false,
        admins: bool = false,
        custom_attributes: Option<AttributeFilter>,
        with_custom_attributes: bool = false,
    } with together("extern_uid", "provider");
}
params! { struct OneUser { id: UserId, with_custom_attributes: bool = false } }
params! { struct RemoveUser { id: UserId, hard_delete: bool = false } }
params! { struct OneIdentity { id: UserId, provider: String } }

impl ListUsers {
    fn filter(self, actor: Actor) -> UserFilter {
        UserFilter {
            username: self.username.filter(|name| !name.is_empty()),
            usernames: None,
            ids: None,
            search: self.search.filter(|term| !term.is_empty()),
            any_email: false,
            active: self.active,
            blocked: self.blocked,
            external: self.external,
            exclude_external: self.exclude_external,
            exclude_internal: self.exclude_internal,
            humans: self.humans,
            without_bots: self.without_project_bots,
            without_projects: self.without_projects,
            admins: self.admins,
            two_factor: self.two_factor,
            identity: self.provider.zip(self.extern_uid),
            saml_provider: self.saml_provider_id,
            provisioned_by: None,
            created_after: self.created_after,
            created_before: self.created_before,
            custom_attributes: AttributeFilter::of(self.custom_attributes, actor),
            order: self.order_by,
            descending: self.sort == Sort::Desc,
        }
    }
}

async fn list(
    app: App,
    call: Call<Anyone, ListUsers>,
) -> ApiResult<Either<PagedList<BriefUser>, PagedList<AdminUser>>> {
    let actor = call.grant.actor();
    let (annotated, page) = (call.params.with_custom_attributes, call.page);
    let filter = call.params.filter(actor);
    let found = app.db.read(move |tx| {
        ensure_may_list(tx, actor, &filter)?;
        let users = tx.users(&filter.clone().allowed_for(actor), page)?;
        if actor.admin {
            let ids: Vec<UserId> = users.items.iter().map(|user| user.id).collect();
            let notes = match annotated {
                true => Some(tx.custom_attributes_of_users(&ids)?),
                false => None,
            };
            let full = users.try_map_all(|users| tx.full_users(users, actor.id))?;
            return Ok(Either::Right((full, notes)));
        }
        Ok(Either::Left(users))
    });
    Ok(match found.await? {
        Either::Left(page) => {
            Either::Left(PagedList(page.map(|user| BriefUser::new(&app.urls, &user))))
        }
        Either::Right((page, mut notes)) => Either::Right(PagedList(page.map(|full| {
            let mut shown = AdminUser::new(&app.urls, &full);
            shown.custom_attributes = notes
                .as_mut()
                .map(|notes| entities(notes.remove(&full.user.id.0).unwrap_or_default()));
            shown
        }))),
    })
}

async fn show(
    app: App,
    call: Call<Anyone, OneUser>,
) -> ApiResult<Either<Json<SingleUser>, Json<AdminUser>>> {
    let (actor, id) = (call.grant.actor(), call.params.id);
    if actor.id.is_none() {
        return Err(Error::forbidden().because("Not authorized!").into());
    }
    app.rates.check_person(call.caller.user()?)?;
    let annotated = actor.admin && call.params.with_custom_attributes;
    let found = app.db.peek(move |tx| {
        let notes = match annotated {
            true => Some(tx.custom_attributes(Subject::User(id))?),
            false => None,
        };
        Ok((tx.full_user(id, actor.id, actor.admin)?, notes))
    });
    let (full, notes) = found.await?;
    if actor.admin {
        let mut shown = AdminUser::new(&app.urls, &full);
        shown.custom_attributes = notes.map(entities);
        return Ok(Either::Right(Json(shown)));
    }
    let reader = if actor.id == Some(id) { Reader::Privileged } else { Reader::Other };
    Ok(Either::Left(Json(SingleUser::new(&app.urls, &full, reader))))
}

/// The record of one person for an administrator.
async fn presented(app: &App, user: User, reader: Actor) -> ApiResult<AdminUser> {
    let mut full = app.db.peek(move |tx| tx.full_users(vec![user], reader.id)).await?;
    let full = full.pop().ok_or_else(|| Error::not_found("User"))?;
    Ok(AdminUser::new(&app.urls, &full))
}

/// The account elsewhere that the parameters name.
fn identity(more: &DetailParams) -> Option<ExternalIdentity> {
    let filled = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
    let (provider, extern_uid) = filled(&more.provider).zip(filled(&more.extern_uid))?;
    Some(ExternalIdentity { provider, extern_uid, saml_provider_id: more.group_id_for_saml })
}

async fn create(
    app: App,
    call: Call<Administrate, (CreateUser, DetailParams)>,
) -> ApiResult<Created<AdminUser>> {
    let whom = call.whom();
    let (actor, grant, (given, more)) = (call.grant.actor(), call.grant, call.params);
    let by_mail = given.reset_password == Some(true);
    let password = if by_mail || given.force_random_password == Some(true) {
        app.passwords.invent(whom).await?
    } else {
        app.passwords.choose(whom, given.password.clone().unwrap_or_default()).await?
    };
    let beginning = AccountStart {
        password,
        by_mail,
        confirmed: given.skip_confirmation,
        identity: identity(&more),
    };
    let new = NewUser {
        name: given.name.clone(),
        email: given.email.clone(),
        admin: given.admin.unwrap_or(false),
        external: given.external.unwrap_or(false),
        ..NewUser::named(&given.username)
    };
    let picture = more.avatar.clone().into_update();
    let change = move |details: &mut Details| more.apply(details);
    let made = account::create(&app, &grant, new, beginning, picture, change).await?;
    Ok(Created(presented(&app, made, actor).await?))
}

async fn update(
    app: App,
    call: Call<Administrate, (ChangeUser, DetailParams)>,
) -> ApiResult<Json<AdminUser>> {
    let whom = call.whom();
    let (actor, grant, (given, more)) = (call.grant.actor(), call.grant, call.params);
    let by_mail = given.reset_password;
    let password = match given.password.clone().filter(|clear| !clear.is_empty()) {
        _ if by_mail || given.force_random_password => Some(app.passwords.invent(whom).await?),
        Some(clear) => Some(app.passwords.choose(whom, clear).await?),
        None => None,
    };
    let (confirmed, identity) = (given.skip_reconfirmation, identity(&more));
    let changes = Changes { password, by_mail, confirmed, identity };
    let (id, picture) = (given.id, more.avatar.clone().into_update());
    let change = move |details: &mut Details| {
        given.apply(details);
        more.apply(details);
    };
    let user = account::update(&app, &grant, id, changes, picture, change).await?;
    Ok(Json(presented(&app, user, actor).await?))
}

/// The answer waits until the account is gone. Where that fails, it is tried again later, and the answer says so.
async fn remove(
    app: App,
    call: Call<Administrate, RemoveUser>,
) -> ApiResult<Either<NoContent, Accepted>> {
    let (since, id) = (call.unmodified_since(), call.params.id);
    let removal = if call.params.hard_delete { Removal::Hard } else { Removal::Soft };
    app.db.write(move |tx| removal::begin(tx, &call.grant, id, removal, since)).await?;
    remove_now(&app, id).await?;
    let left = app.db.peek(move |tx| tx.find_user(id)).await?;
    Ok(if left.is_none() { Either::Left(NoContent) } else { Either::Right(Accepted) })
}

async fn remove_identity(app: App, call: Call<Administrate, OneIdentity>) -> ApiResult<NoContent> {
    let (grant, one) = (call.grant, call.params);
    let done =
        app.db.write(move |tx| user::actions::remove_identity(tx, &grant, one.id, &one.provider));
    done.await?;
    Ok(NoContent)
}
