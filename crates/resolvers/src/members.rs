//! Members of projects and groups.

use std::sync::Arc;

use entities::org::brief_user::BriefUser;
use graphql::{Arguments, Connection, Failure, Fields, Page, Registry, Value};
use kernel::{AccessLevel, Actor, Ts, ids::UserId};
use org::{
    member::{
        Member, MemberFilter, MemberSource, Membership, Source,
        related::{self, MemberOrder, RelatedMembers},
    },
    policy::{ReadGroupMembers, ReadProjectMembers},
    user::User,
};

use super::{
    context::Context,
    failure::failure_of,
    groups,
    join::try_join_all,
    people, projects,
    values::{maybe_time, time},
    windowed_page::{CursorOrder, WindowedPage},
};

/// A membership with the user whose it is.
pub(super) struct MemberRecord {
    id: i64,
    source: Source,
    access_level: AccessLevel,
    created_at: Ts,
    updated_at: Ts,
    expires_at: Option<Ts>,
    user: Holder,
    created_by: Option<Holder>,
}

/// A user who is known as a whole, or by id.
enum Holder {
    Known(Box<User>),
    Id(UserId),
}

impl Holder {
    async fn value(&self, context: &Context) -> Result<Value, Failure> {
        match self {
            Self::Known(user) => Ok(people::user(BriefUser::new(&context.forge.urls, user))),
            Self::Id(id) => people::of_id(context, *id).await,
        }
    }
}

impl MemberRecord {
    /// Whose membership it is.
    pub(super) fn user_id(&self) -> UserId {
        match &self.user {
            Holder::Known(user) => user.id,
            Holder::Id(id) => *id,
        }
    }
}

impl From<Membership> for MemberRecord {
    fn from(member: Membership) -> Self {
        Self {
            id: member.id.0,
            source: member.source,
            access_level: member.access_level,
            created_at: member.created_at,
            updated_at: member.updated_at,
            expires_at: member.expires_at,
            user: Holder::Known(Box::new(member.user)),
            created_by: member.created_by.map(|user| Holder::Known(Box::new(user))),
        }
    }
}

impl From<&Member> for MemberRecord {
    fn from(member: &Member) -> Self {
        Self {
            id: member.id.0,
            source: member.source(),
            access_level: member.level(),
            created_at: member.created_at,
            updated_at: member.updated_at,
            expires_at: member.expires_at,
            user: Holder::Id(member.user_id),
            created_by: member.created_by.map(Holder::Id),
        }
    }
}

fn member(record: MemberRecord) -> Value {
    let type_name = match record.source {
        Source::Project(_) => "ProjectMember",
        Source::Group(_) => "GroupMember",
    };
    Value::object(type_name, Arc::new(record))
}

pub(super) fn register(registry: &mut Registry<Context>) {
    add_fields(registry.object("GroupMember"), "GroupMember")
        .lookup("group", |record, _, context| async move {
            match record.source {
                Source::Group(id) => groups::of_id(&context, id).await,
                Source::Project(_) => Ok(Value::Null),
            }
        })
        .lookup("notificationEmail", |record, _, context| async move {
            notification_email(&context, &record).await
        })
        .lookup("userPermissions", |record, _, context| async move {
            let Source::Group(id) = record.source else { return Ok(Value::Null) };
            let found = groups::record_of(&context, id).await?;
            Ok(found.map(|found| groups::permissions(&found)).into())
        });
    add_fields(registry.object("ProjectMember"), "ProjectMember")
        .lookup("project", |record, _, context| async move {
            match record.source {
                Source::Project(id) => projects::of_id(&context, id).await,
                Source::Group(_) => Ok(Value::Null),
            }
        })
        .lookup("userPermissions", |record, _, context| async move {
            let Source::Project(id) = record.source else { return Ok(Value::Null) };
            let found = projects::record_of(&context, id).await?;
            match found {
                Some(found) => projects::permissions(&found, &context).await,
                None => Ok(Value::Null),
            }
        });
}

fn add_fields<'r>(
    fields: Fields<'r, Context, MemberRecord>,
    class: &'static str,
) -> Fields<'r, Context, MemberRecord> {
    fields
        .lookup("id", move |record, _, _| async move { Ok(Value::gid(class, record.id)) })
        .plain("accessLevel", |record| level(record.access_level))
        .plain("createdAt", |record| time(record.created_at))
        .plain("updatedAt", |record| time(record.updated_at))
        .plain("expiresAt", |record| maybe_time(record.expires_at))
        .lookup("user", |record: Arc<MemberRecord>, _, context| async move {
            record.user.value(&context).await
        })
        .lookup("createdBy", |record: Arc<MemberRecord>, _, context| async move {
            match &record.created_by {
                Some(user) => user.value(&context).await,
                None => Ok(Value::Null),
            }
        })
}

fn level(level: AccessLevel) -> Value {
    let name = match level {
        AccessLevel::NoAccess => "NO_ACCESS",
        AccessLevel::Minimal => "MINIMAL_ACCESS",
        AccessLevel::Guest => "GUEST",
        AccessLevel::Reporter => "REPORTER",
        AccessLevel::Developer => "DEVELOPER",
        AccessLevel::Maintainer => "MAINTAINER",
        AccessLevel::Owner => "OWNER",
        AccessLevel::Admin => "ADMIN",
    };
    Value::fields(
        "AccessLevel",
        [("integerValue", level.number().into()), ("stringValue", name.into())],
    )
}

/// Where notifications of a group go, for the member alone: to their primary address.
async fn notification_email(context: &Context, record: &MemberRecord) -> Result<Value, Failure> {
    let id = match &record.user {
        Holder::Known(user) => user.id,
        Holder::Id(id) => *id,
    };
    let own = context.user().filter(|user| user.id == id);
    Ok(own.map(|user| user.email.as_str()).into())
}

/// What a list of members is asked for, beside how they relate to its source.
pub(super) fn related_members(actor: Actor, arguments: &Arguments) -> RelatedMembers {
    let sort = arguments.maybe_enum("sort").unwrap_or_default().to_uppercase();
    let order = match sort.rsplit_once('_').map(|(field, _)| field) {
        Some("ACCESS_LEVEL") => MemberOrder::AccessLevel,
        Some("USER_FULL_NAME") => MemberOrder::UserName,
        Some("CREATED") => MemberOrder::CreatedAt,
        Some("UPDATED") => MemberOrder::UpdatedAt,
        _ => MemberOrder::UserId,
    };
    let levels = arguments.texts("accessLevels");
    RelatedMembers {
        filter: MemberFilter {
            query: arguments.maybe_text("search"),
            any_email: actor.admin,
            ..MemberFilter::default()
        },
        levels: levels.iter().map(|name| level_named(name)).collect(),
        order,
        descending: sort.ends_with("_DESC"),
        ..RelatedMembers::default()
    }
}

fn level_named(name: &str) -> AccessLevel {
    match name {
        "MINIMAL_ACCESS" => AccessLevel::Minimal,
        "GUEST" => AccessLevel::Guest,
        "REPORTER" => AccessLevel::Reporter,
        "DEVELOPER" => AccessLevel::Developer,
        "MAINTAINER" => AccessLevel::Maintainer,
        "OWNER" => AccessLevel::Owner,
        "ADMIN" => AccessLevel::Admin,
        _ => AccessLevel::NoAccess,
    }
}

/// A page of the members of a project or group.
///
/// # Errors
/// When the database failed.
pub(super) async fn list(
    context: &Context,
    source: MemberSource,
    wanted: RelatedMembers,
    arguments: &Arguments,
) -> Result<Value, Failure> {
    let order = match wanted.order {
        MemberOrder::UserId => CursorOrder::Id,
        MemberOrder::AccessLevel => CursorOrder::Number("access_level"),
        MemberOrder::UserName => CursorOrder::Text("name"),
        MemberOrder::CreatedAt => CursorOrder::Number("created_at"),
        MemberOrder::UpdatedAt => CursorOrder::Number("updated_at"),
    };
    let page = WindowedPage::new(arguments.page()?, order)?;
    let (asked, list, counts) = (page.clone(), wanted.clone(), arguments.counts());
    let found = context.forge.db.read(move |tx| {
        asked.read(counts, |window, part| {
            related::list_in(tx, source.actor(), source.source, &list, window, part)
        })
    });
    let found = found.await.map_err(failure_of)?;
    let position = |one: &Membership| wanted.position(one);
    Ok(page.connection(found, position, |found| member(found.into())).into())
}

/// Memberships of a user in projects or groups whose members the caller may see.
///
/// # Errors
/// When the database failed.
pub(super) async fn seen(
    context: &Context,
    page: &Page,
    found: Option<Arc<Vec<Member>>>,
) -> Result<Value, Failure> {
    let Some(found) = found else { return Ok(Connection::of_list(page, Vec::new()).into()) };
    let seen = try_join_all(found.iter().map(|member| is_seen(context, member))).await?;
    let seen = found.iter().zip(seen).filter(|(_, seen)| *seen);
    let members = seen.map(|(found, _)| member(found.into())).collect();
    Ok(Connection::of_list(page, members).into())
}

async fn is_seen(context: &Context, member: &Member) -> Result<bool, Failure> {
    Ok(match member.source() {
        Source::Project(id) => projects::record_of(context, id)
            .await?
            .is_some_and(|project| project.may::<ReadProjectMembers>()),
        Source::Group(id) => groups::record_of(context, id)
            .await?
            .is_some_and(|group| group.grant::<ReadGroupMembers>().is_ok()),
    })
}
