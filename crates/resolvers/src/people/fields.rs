//! The fields of users, and the queries for them.

use std::{collections::HashMap, sync::Arc};

use db::Tx;
use entities::org::brief_user::BriefUser;
use forge::user::visibility::sees_people;
use graphql::{Arguments, Failure, Fields, Registry, Value};
use kernel::{
    AccessLevel, Actor, Result, TextEnum as _,
    ids::{NamespaceId, UserId},
};
use org::{
    member::Member,
    namespace::{
        GroupFilter, Namespace, locations,
        model::{GroupOrder, GroupSelection, TreeLevel},
        of_people::{GroupsOfPeople, first_groups},
    },
    project::home::HomeStore as _,
    status::{Availability, Status, actions::statuses, emoji},
    user::{
        User, UserFilter,
        account::AccountStore as _,
        list::{Order as UserOrder, UserLists as _},
        list_rules::ensure_may_list,
        model::FullUser,
        store::UserStore as _,
    },
    user_activity::{SourceKind, group_counts, memberships_of},
};

use super::{
    preferences,
    record::{of_id, user},
    stars,
};
use crate::{
    context::Context,
    failure::failure_of,
    groups::{self, FirstGroups},
    loaders::{BatchLoader, Loaders},
    members,
    numbered_list::NumberedList,
    values::{ids, path_of, texts},
    windowed_page::{CursorOrder, WindowedPage},
};

/// Loaders of user details.
struct UserLoaders {
    full: BatchLoader<UserId, Arc<FullUser>>,
    statuses: BatchLoader<UserId, Arc<Status>>,
    group_counts: BatchLoader<UserId, i64>,
    first_groups: BatchLoader<(UserId, GroupsOfPeople), FirstGroups>,
    group_memberships: BatchLoader<UserId, Arc<Vec<Member>>>,
    project_memberships: BatchLoader<UserId, Arc<Vec<Member>>>,
}

impl UserLoaders {
    fn of(loaders: &Loaders, reader: Actor) -> Arc<Self> {
        loaders.of(|db| Self {
            full: BatchLoader::new(db, move |tx, ids| {
                let users = tx.users_by_id(ids)?.into_values().collect();
                let full = tx.full_users(users, reader.id)?.into_iter();
                Ok(full.map(|full| (full.user.id, Arc::new(full))).collect())
            }),
            statuses: BatchLoader::new(db, move |tx, ids| {
                if reader.id.is_none() && !sees_people(tx, reader)? {
                    return Ok(HashMap::new());
                }
                let found = statuses(tx, ids)?.into_iter();
                Ok(found.map(|(user, status)| (user, Arc::new(status))).collect())
            }),
            group_counts: BatchLoader::new(db, group_counts),
            first_groups: BatchLoader::new(db, first_groups_of),
            group_memberships: BatchLoader::new(db, |tx, ids| {
                memberships(tx, ids, SourceKind::Namespace)
            }),
            project_memberships: BatchLoader::new(db, |tx, ids| {
                memberships(tx, ids, SourceKind::Project)
            }),
        })
    }
}

/// The groups of people, those of whom the same is asked by one statement.
fn first_groups_of(
    tx: &mut Tx<'_>,
    keys: &[(UserId, GroupsOfPeople)],
) -> Result<HashMap<(UserId, GroupsOfPeople), FirstGroups>> {
    let mut people: HashMap<&GroupsOfPeople, Vec<UserId>> = HashMap::new();
    for (user, wanted) in keys {
        people.entry(wanted).or_default().push(*user);
    }
    let mut all = HashMap::new();
    for (wanted, users) in people {
        let found = first_groups(tx, &users, wanted)?;
        let ids: Vec<NamespaceId> = found.values().flat_map(|page| page.items.clone()).collect();
        let rows = tx.namespaces_by_id(&ids)?;
        for (user, page) in found {
            let own = page.items.iter().filter_map(|id| rows.get(id).cloned()).collect();
            let own = FirstGroups { rows: Arc::new(own), total: page.total };
            all.insert((user, wanted.clone()), own);
        }
    }
    Ok(all)
}

fn memberships(
    tx: &mut Tx<'_>,
    users: &[UserId],
    kind: SourceKind,
) -> Result<HashMap<UserId, Arc<Vec<Member>>>> {
    let found = memberships_of(tx, users, kind)?.into_iter();
    Ok(found.map(|(user, members)| (user, Arc::new(members))).collect())
}

pub(crate) fn register(registry: &mut Registry<Context>) {
    registry.composed(&["SavedReply", "Snippet", "UserPermissions", "UserStatus"]);
    preferences::register(registry);
    registry
        .query()
        .lookup("currentUser", |_, _, context| async move {
            let own = context.user().map(|own| user(BriefUser::new(&context.forge.urls, own)));
            Ok(own.into())
        })
        .lookup("user", |_, arguments, context| async move { one(&context, &arguments).await })
        .lookup("users", |_, arguments, context| async move { list(&context, &arguments).await });
    add_fields::<BriefUser>(registry.object("UserCore"));
}

/// The fields of the interface `User`, for any record that holds a user.
pub fn add_fields<'r, T: AsRef<BriefUser> + Send + Sync + 'static>(
    fields: Fields<'r, Context, T>,
) -> Fields<'r, Context, T> {
    add_lists(fields)
        .plain("avatarUrl", |record| record.as_ref().avatar_url.clone().into())
        .plain("id", |record| Value::gid("User", record.as_ref().id))
        .plain("name", |record| record.as_ref().name.as_str().into())
        .plain("state", |record| record.as_ref().state.to_string().into())
        .plain("username", |record| record.as_ref().username.as_str().into())
        .plain("webUrl", |record| record.as_ref().web_url.as_str().into())
        .plain("userPermissions", |_| {
            Value::fields("UserPermissions", [("createSnippet", false.into())])
        })
        .lookup("webPath", |record: Arc<T>, _, context| async move {
            Ok(path_of(&context.forge.urls, &(*record).as_ref().web_url).into())
        })
        .lookup("bot", |record: Arc<T>, _, context| async move {
            Ok(row(&context, id_of(&*record)).await?.is_some_and(|user| user.bot).into())
        })
        .lookup("email", |record: Arc<T>, _, context| async move {
            public_email(&context, id_of(&*record)).await
        })
        .lookup("publicEmail", |record: Arc<T>, _, context| async move {
            public_email(&context, id_of(&*record)).await
        })
        .lookup("groupCount", |record: Arc<T>, _, context| async move {
            let id = id_of(&*record);
            if !is_told_of(context.actor(), id) {
                return Ok(Value::Null);
            }
            let loaders = UserLoaders::of(&context.loaders, context.actor());
            Ok(loaders.group_counts.load(id).await?.unwrap_or_default().into())
        })
        .lookup("location", |record: Arc<T>, _, context| async move {
            let full = full(&context, id_of(&*record)).await?;
            Ok(full.and_then(|full| full.profile.location.clone()).into())
        })
}

/// Memberships, projects and what else lies with a user.
fn add_lists<'r, T: AsRef<BriefUser> + Send + Sync + 'static>(
    fields: Fields<'r, Context, T>,
) -> Fields<'r, Context, T> {
    fields
        .lookup("groupMemberships", |record: Arc<T>, arguments, context| async move {
            let loaders = UserLoaders::of(&context.loaders, context.actor());
            let found = loaders.group_memberships.load(id_of(&*record)).await?;
            members::seen(&context, &arguments.page()?, found).await
        })
        .lookup("projectMemberships", |record: Arc<T>, arguments, context| async move {
            let loaders = UserLoaders::of(&context.loaders, context.actor());
            let found = loaders.project_memberships.load(id_of(&*record)).await?;
            members::seen(&context, &arguments.page()?, found).await
        })
        .lookup("groups", |record: Arc<T>, arguments, context| async move {
            groups_of(&context, id_of(&*record), &arguments).await
        })
        .lookup("namespace", |record: Arc<T>, _, context| async move {
            personal_namespace(&context, id_of(&*record)).await
        })
        .lookup("starredProjects", |record: Arc<T>, arguments, context| async move {
            stars::starred_projects(&context, id_of(&*record), &arguments).await
        })
        .lookup("status", |record: Arc<T>, _, context| async move {
            status(&context, id_of(&*record)).await
        })
        .lookup("callouts", |record: Arc<T>, arguments, context| async move {
            preferences::callouts_of(&context, id_of(&*record), &arguments).await
        })
        .none(&[
            "gitpodEnabled",
            "preferencesGitpodPath",
            "profileEnableGitpodPath",
            "savedReplies",
            "snippets",
        ])
}

fn id_of(record: &impl AsRef<BriefUser>) -> UserId {
    UserId(record.as_ref().id)
}

async fn row(context: &Context, id: UserId) -> Result<Option<Arc<User>>, Failure> {
    context.loaders.users.load(id).await
}

/// What profiles tell, for callers who say who they are.
async fn full(context: &Context, id: UserId) -> Result<Option<Arc<FullUser>>, Failure> {
    match context.user() {
        Some(_) => UserLoaders::of(&context.loaders, context.actor()).full.load(id).await,
        None => Ok(None),
    }
}

/// Whether the caller is the user or an administrator.
fn is_told_of(actor: Actor, user: UserId) -> bool {
    actor.admin || actor.id == Some(user)
}

async fn public_email(context: &Context, id: UserId) -> Result<Value, Failure> {
    if context.user().is_none() {
        return Ok(Value::Null);
    }
    let found = row(context, id).await?;
    let email = found.and_then(|user| user.public_email.clone());
    Ok(email.filter(|email| !email.is_empty()).into())
}

async fn personal_namespace(context: &Context, id: UserId) -> Result<Value, Failure> {
    let home = full(context, id).await?.and_then(|full| full.namespace_id);
    match home {
        Some(home) if is_told_of(context.actor(), id) => {
            groups::namespace_of_id(context, home).await
        }
        _ => Ok(Value::Null),
    }
}

async fn status(context: &Context, id: UserId) -> Result<Value, Failure> {
    let loaders = UserLoaders::of(&context.loaders, context.actor());
    let found = loaders.statuses.load(id).await?;
    Ok(found.map_or(Value::Null, |status| {
        let availability = match status.availability {
            Availability::NotSet => "NOT_SET",
            Availability::Busy => "BUSY",
        };
        let message = status.message.as_deref();
        Value::fields(
            "UserStatus",
            [
                ("availability", availability.into()),
                ("emoji", status.emoji.as_str().into()),
                ("message", message.into()),
                ("messageHtml", message.map(emoji::html).into()),
            ],
        )
    }))
}

/// A user by id or by name.
async fn one(context: &Context, arguments: &Arguments) -> Result<Value, Failure> {
    let id = arguments.maybe_gid("id", &["User"])?;
    let name = arguments.maybe_text("username");
    if id.is_some() == name.is_some() {
        return Err(Failure::one_of(&["id", "username"]));
    }
    let caller = context.signed_in()?;
    if let Some(id) = id {
        context.rates.check_person(caller).map_err(failure_of)?;
        return of_id(context, UserId(id)).await;
    }
    let name = name.unwrap_or_default();
    let found = context.forge.db.peek(move |tx| tx.find_user_named(&name)).await;
    let found = found.map_err(failure_of)?;
    Ok(found.map_or(Value::Null, |found| user(BriefUser::new(&context.forge.urls, &found))))
}

const EITHER: &str = "Provide either a list of usernames or ids";

async fn list(context: &Context, arguments: &Arguments) -> Result<Value, Failure> {
    context.signed_in()?;
    let (ids, names) = (ids(arguments, "ids", &["User"])?, texts(arguments, "usernames")?);
    if ids.is_some() && names.is_some() {
        return Err(Failure::message(EITHER));
    }
    let filter = UserFilter {
        search: arguments.maybe_text("search").filter(|text| !text.is_empty()),
        admins: arguments.flag("admins"),
        ids: ids.map(|ids| ids.into_iter().map(UserId).collect()),
        usernames: names,
        order: match arguments.text("sort")?.to_lowercase().as_str() {
            "updated_asc" | "updated_desc" => UserOrder::UpdatedAt,
            _ => UserOrder::CreatedAt,
        },
        descending: arguments.text("sort")?.to_lowercase().ends_with("_desc"),
        ..UserFilter::default()
    };
    let page = WindowedPage::new(arguments.page()?, CursorOrder::Number(filter.order.as_str()))?;
    let (actor, asked, counts) = (context.actor(), page.clone(), arguments.counts());
    let shown = filter.clone();
    let found = context.forge.db.read(move |tx| {
        ensure_may_list(tx, actor, &filter)?;
        // Every order here is by dates, which callers see in the records themselves.
        let (order, descending) = (filter.order, filter.descending);
        let filter = UserFilter { order, descending, ..filter.allowed_for(actor) };
        asked.read(counts, |window, part| tx.users_in(&filter, window, part))
    });
    let found = found.await.map_err(failure_of)?;
    let (urls, position) = (&context.forge.urls, |row: &User| shown.position(row));
    Ok(page.connection(found, position, |found| user(BriefUser::new(urls, &found))).into())
}

/// Groups of which somebody is a member, for themselves and administrators.
async fn groups_of(context: &Context, id: UserId, arguments: &Arguments) -> Result<Value, Failure> {
    let actor = context.actor();
    let Some(user) = row(context, id).await?.filter(|_| is_told_of(actor, id)) else {
        return Ok(Value::Null);
    };
    let search = arguments.maybe_text("search").filter(|text| !text.trim().is_empty());
    let level = match arguments.maybe_enum("permissionScope").as_deref() {
        Some("CREATE_PROJECTS" | "TRANSFER_PROJECTS") => {
            return groups_for_projects(context, user, search, arguments).await;
        }
        Some(_) => AccessLevel::Maintainer,
        None => AccessLevel::Minimal,
    };
    let (page, counts) = (arguments.page()?, arguments.counts());
    if page.is_first() {
        // The first groups of all people of the query are read together.
        let most = i64::try_from(page.limit()).unwrap_or(i64::MAX).saturating_add(1);
        let wanted = GroupsOfPeople { level, search, most };
        let loaders = UserLoaders::of(&context.loaders, actor);
        let found = loaders.first_groups.load((id, wanted)).await?.unwrap_or_default();
        return groups::first_page(context, &page, found).await;
    }
    let reach = GroupSelection::AtLeast { user: id, level };
    groups::listed(context, page, membership(user.actor(), reach, search), counts).await
}

/// Groups in which somebody may make projects.
async fn groups_for_projects(
    context: &Context,
    user: Arc<User>,
    search: Option<String>,
    arguments: &Arguments,
) -> Result<Value, Failure> {
    let page = arguments.page()?;
    let window = page.clone();
    let found = context.forge.db.read(move |tx| {
        let found = NumberedList::read(&window, |request| {
            locations::for_projects(tx, user.actor(), search.as_deref(), request)
        })?;
        Ok(found.map(|group: Namespace| group.id))
    });
    let found: NumberedList<NamespaceId> = found.await.map_err(failure_of)?;
    groups::connection(context, &page, found).await
}

fn membership(actor: Actor, reach: GroupSelection, search: Option<String>) -> GroupFilter {
    GroupFilter {
        actor,
        reach,
        place: TreeLevel::Anywhere,
        search,
        skip: Vec::new(),
        ids: None,
        attributes: Vec::new(),
        elsewhere: false,
        order: GroupOrder::Name,
        descending: false,
        after: None,
    }
}
