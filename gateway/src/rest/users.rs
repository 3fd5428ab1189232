//! People.

use kernel::{
    Error, Grant, Ts,
    access::{Administrate, Anyone},
    ids::UserId,
};
use org::user::{
    self, Details, UserFilter,
    actions::{NewUser, Removal},
    model::{Order, TwoFactor},
    password::Chosen,
    store::UserStore,
};
use tokio::task::spawn_blocking;

use super::user_params::{ChangeUser, CreateUser, DetailParams};
use crate::{
    app::App,
    entities::{
        brief_user::BriefUser,
        user::{AdminSingleUser, AdminUser, Reader, SingleUser},
    },
    error::ApiResult,
    extract::{Call, Sort},
    param_enums, params,
    present::{Created, Either, Json, Listed, NoContent},
    routes,
};

routes! { "Users" at "/users", also [ReadUser];
    GET    ""                 => list       : Anyone,
    POST   ""                 => create     : Administrate,
    GET    "/{id}"            => show       : Anyone,
    PUT    "/{id}"            => update     : Administrate,
    DELETE "/{id}"            => remove     : Administrate,
    POST   "/{id}/block"      => block      : Administrate,
    POST   "/{id}/unblock"    => unblock    : Administrate,
    POST   "/{id}/activate"   => activate   : Administrate,
    POST   "/{id}/deactivate" => deactivate : Administrate,
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
        without_project_bots: bool = false,
        extern_uid: Option<String>,
        provider: Option<String>,
        created_after: Option<Ts>,
        created_before: Option<Ts>,
        order_by: Order = Order::Id,
        sort: Sort = Sort::Desc,
        two_factor: Option<TwoFactor>,
        without_projects: bool = false,
        admins: bool = false,
    } with together("extern_uid", "provider");
}
params! { struct OneUser { id: UserId } }
params! { struct RemoveUser { id: UserId, hard_delete: bool = false } }

impl ListUsers {
    /// What only administrators may ask for is left out for others.
    fn filter(self, admin: bool) -> UserFilter {
        let elsewhere = self.extern_uid.is_some() || self.provider.is_some();
        let nobody = elsewhere || self.two_factor == Some(TwoFactor::Enabled);
        UserFilter {
            username: self.username.filter(|name| !name.is_empty()),
            search: self.search.filter(|term| !term.is_empty()),
            any_email: admin,
            active: self.active,
            blocked: self.blocked,
            external: self.external,
            exclude_external: self.exclude_external,
            without_bots: self.without_project_bots,
            without_projects: admin && self.without_projects,
            admins: admin && self.admins,
            created_after: self.created_after.filter(|_| admin),
            created_before: self.created_before.filter(|_| admin),
            nobody: admin && nobody,
            order: if admin { self.order_by } else { Order::Id },
            descending: !admin || self.sort == Sort::Desc,
        }
    }
}

async fn list(
    app: App,
    call: Call<Anyone, ListUsers>,
) -> ApiResult<Either<Listed<BriefUser>, Listed<AdminUser>>> {
    let actor = call.grant.actor();
    if actor.id.is_none() && call.params.username.is_none() {
        return Err(Error::Refused("Not authorized to access /api/v4/users".to_owned()).into());
    }
    if call.params.extern_uid.is_some() && !actor.admin {
        let refused = if actor.id.is_none() { Error::Unauthenticated } else { Error::Forbidden };
        return Err(refused.into());
    }
    let (filter, page) = (call.params.filter(actor.admin), call.page);
    let found = app.db.read(move |tx| {
        let users = tx.users(&filter, page)?;
        if actor.admin {
            return Ok(Either::Right(users.try_map_all(|users| tx.full_users(users))?));
        }
        Ok(Either::Left(users))
    });
    Ok(match found.await? {
        Either::Left(page) => {
            Either::Left(Listed(page.map(|user| BriefUser::new(&app.urls, &user))))
        }
        Either::Right(page) => {
            Either::Right(Listed(page.map(|full| AdminUser::new(&app.urls, &full))))
        }
    })
}

async fn show(
    app: App,
    call: Call<Anyone, OneUser>,
) -> ApiResult<Either<Json<SingleUser>, Json<AdminSingleUser>>> {
    let (actor, id) = (call.grant.actor(), call.params.id);
    if actor.id.is_none() {
        return Err(Error::Refused("Not authorized!".to_owned()).into());
    }
    let found = app.db.peek(move |tx| {
        let user = tx.user(id)?;
        tx.full_users(vec![user])
    });
    let full = found.await?.pop().ok_or(Error::NotFound("User"))?;
    if actor.admin {
        return Ok(Either::Right(Json(AdminSingleUser::new(&app.urls, &full))));
    }
    let reader = if actor.id == Some(id) { Reader::Privileged } else { Reader::Other };
    Ok(Either::Left(Json(SingleUser::new(&app.urls, &full, reader))))
}

async fn chosen(clear: Option<String>, random: bool) -> ApiResult<Option<Chosen>> {
    let work = spawn_blocking(move || match clear {
        Some(clear) => Chosen::new(clear).map(Some),
        None if random => Chosen::random().map(Some),
        None => Ok(None),
    });
    Ok(work.await.map_err(Error::internal)??)
}

async fn create(
    app: App,
    call: Call<Administrate, (CreateUser, DetailParams)>,
) -> ApiResult<Created<AdminUser>> {
    let (grant, (given, more)) = (call.grant, call.params);
    let random = given.force_random_password == Some(true);
    let by_mail = given.reset_password == Some(true);
    let clear = match &given.password {
        Some(clear) if !random => Some(clear.clone()),
        None if !random && !by_mail => Some(String::new()),
        _ => None,
    };
    let password = chosen(clear, random).await?;
    let made = app.db.write(move |tx| {
        let new = NewUser {
            name: given.name.clone(),
            email: given.email.clone(),
            admin: given.admin.unwrap_or(false),
            external: given.external.unwrap_or(false),
            ..NewUser::named(&given.username)
        };
        let change = |details: &mut Details| more.apply(details);
        let user = user::actions::register(tx, &grant, &new, password.as_ref(), change)?;
        tx.full_users(vec![user])
    });
    let full = made.await?.pop().ok_or(Error::NotFound("User"))?;
    Ok(Created(AdminUser::new(&app.urls, &full)))
}

async fn update(
    app: App,
    call: Call<Administrate, (ChangeUser, DetailParams)>,
) -> ApiResult<Json<AdminUser>> {
    let (grant, (given, more)) = (call.grant, call.params);
    let password = chosen(given.password.clone(), false).await?;
    let changed = app.db.write(move |tx| {
        let id = given.id;
        let change = |details: &mut Details| {
            given.apply(details);
            more.apply(details);
        };
        let user = user::actions::update(tx, &grant, id, password.as_ref(), change)?;
        tx.full_users(vec![user])
    });
    let full = changed.await?.pop().ok_or(Error::NotFound("User"))?;
    Ok(Json(AdminUser::new(&app.urls, &full)))
}

async fn remove(app: App, call: Call<Administrate, RemoveUser>) -> ApiResult<NoContent> {
    let (since, id) = (call.unmodified_since(), call.params.id);
    let removal = if call.params.hard_delete { Removal::Hard } else { Removal::Soft };
    app.db.write(move |tx| user::actions::remove(tx, &call.grant, id, removal, since)).await?;
    Ok(NoContent)
}

type Move = fn(&mut db::Tx<'_>, &Grant<Administrate>, UserId) -> kernel::Result<bool>;

/// Runs one of the steps of an account's life; the answer is whether it is now as asked.
async fn moved(
    app: &App,
    call: Call<Administrate, OneUser>,
    action: Move,
) -> ApiResult<Created<bool>> {
    let (grant, id) = (call.grant, call.params.id);
    Ok(Created(app.db.write(move |tx| action(tx, &grant, id)).await?))
}

async fn block(app: App, call: Call<Administrate, OneUser>) -> ApiResult<Created<bool>> {
    moved(&app, call, user::actions::block).await
}

async fn unblock(app: App, call: Call<Administrate, OneUser>) -> ApiResult<Created<bool>> {
    moved(&app, call, user::actions::unblock).await
}

async fn activate(app: App, call: Call<Administrate, OneUser>) -> ApiResult<Created<bool>> {
    moved(&app, call, user::actions::activate).await
}

async fn deactivate(app: App, call: Call<Administrate, OneUser>) -> ApiResult<Created<bool>> {
    moved(&app, call, user::actions::deactivate).await
}
