//! Audit events.

use admin::audit::{AuditFilter, AuditStore as _, Entity, actions};
use entities::server::audit_event::AuditEventEntity;
use kernel::{
    Error, Result, Ts,
    access::Administrate,
    page::{Page, Total},
};
use org::policy::{AdminGroup, AdminProject, OwnProject};

use crate::{
    app::App,
    error::ApiResult,
    extract::{Call, CursorPage, cursor_of},
    param_enums, params,
    present::{Either, Json, KeysetList, PagedList},
    routes,
};

routes! { "Audit events" at "/audit_events";
    GET ""                  => list : Administrate,
    GET "/{audit_event_id}" => show : Administrate,
}

pub mod of_groups {
    use super::{AdminGroup, list_of_group, show_of_group};
    use crate::routes;

    routes! { "Audit events" at "/groups/{id}/audit_events";
        GET ""                  => list_of_group : AdminGroup,
        GET "/{audit_event_id}" => show_of_group : AdminGroup,
    }
}

pub mod of_projects {
    use super::{AdminProject, list_of_project, show_of_project};
    use crate::routes;

    routes! { "Audit events" at "/projects/{id}/audit_events";
        GET ""                  => list_of_project : AdminProject,
        GET "/{audit_event_id}" => show_of_project : AdminProject,
    }
}

kernel::text_enum! {
    /// What an audit event is about.
    pub enum EntityType {
        User = "User",
        Group = "Group",
        Project = "Project",
        Instance = "Gitlab::Audit::InstanceScope",
    }
}

param_enums! { EntityType }

type Events = ApiResult<Either<PagedList<AuditEventEntity>, KeysetList<AuditEventEntity>>>;

params! {
    pub struct ListAllAuditEvents {
        /// Only events that are about one of these.
        entity_type: Option<EntityType>,
        /// Only events about the entity with this ID. Requires `entity_type`.
        entity_id: Option<i64>,
        /// Only events from this moment on.
        created_after: Option<Ts>,
        /// Only events until this moment.
        created_before: Option<Ts>,
    } with needs("entity_id", "entity_type");
}

params! {
    pub struct ListAuditEvents {
        /// Only events from this moment on.
        created_after: Option<Ts>,
        /// Only events until this moment.
        created_before: Option<Ts>,
    }
}

params! {
    pub struct OneAuditEvent {
        audit_event_id: i64,
    }
}

/// The ID below which those of the page are, above every other on the first page. `None` without keyset pagination.
///
/// # Errors
/// `NotAllowed` for another order, `BadRequest` for a cursor that nobody was given.
fn id_before(pages: &CursorPage) -> Result<Option<i64>> {
    let last = pages.last_id()?;
    Ok(pages.is_keyset().then(|| last.unwrap_or(i64::MAX)))
}

impl ListAuditEvents {
    fn filter(&self, about: AuditFilter, pages: &CursorPage) -> Result<AuditFilter> {
        Ok(AuditFilter {
            created_after: self.created_after,
            created_before: self.created_before,
            id_before: id_before(pages)?,
            ..about
        })
    }
}

fn audit_event_entities(
    page: Page<admin::audit::AuditEvent>,
) -> Either<PagedList<AuditEventEntity>, KeysetList<AuditEventEntity>> {
    let counted = !matches!(page.total, Total::Uncounted { .. });
    let page = page.map(AuditEventEntity::from);
    match counted {
        true => Either::Left(PagedList(page)),
        false => Either::Right(KeysetList::of_page(page, "cursor", |last| {
            cursor_of([("id", last.id.to_string())])
        })),
    }
}

async fn list(app: App, call: Call<Administrate, (ListAllAuditEvents, CursorPage)>) -> Events {
    let (grant, page, (given, pages)) = (call.grant, call.page, call.params);
    let filter = AuditFilter {
        entity_type: given.entity_type.map(|kind| kind.to_string()),
        entity_id: given.entity_id,
        author_id: None,
        created_after: given.created_after,
        created_before: given.created_before,
        id_before: id_before(&pages)?,
    };
    Ok(audit_event_entities(app.db.read(move |tx| actions::list(tx, &grant, &filter, page)).await?))
}

async fn show(
    app: App,
    call: Call<Administrate, OneAuditEvent>,
) -> ApiResult<Json<AuditEventEntity>> {
    let (grant, id) = (call.grant, call.params.audit_event_id);
    Ok(Json(app.db.peek(move |tx| actions::read(tx, &grant, id)).await?.into()))
}

async fn list_of_group(app: App, call: Call<AdminGroup, (ListAuditEvents, CursorPage)>) -> Events {
    let about = AuditFilter::about(Entity::Group(call.grant.group()));
    let (given, pages) = call.params;
    let (filter, page) = (given.filter(about, &pages)?, call.page);
    Ok(audit_event_entities(app.db.read(move |tx| tx.audit_events(&filter, page)).await?))
}

async fn show_of_group(
    app: App,
    call: Call<AdminGroup, OneAuditEvent>,
) -> ApiResult<Json<AuditEventEntity>> {
    let about = AuditFilter::about(Entity::Group(call.grant.group()));
    one(app, about, call.params.audit_event_id).await
}

/// Owners see what everybody did, maintainers what they did themselves.
fn about_project(grant: &kernel::Grant<AdminProject>) -> AuditFilter {
    let about = AuditFilter::about(Entity::Project(grant.project()));
    match grant.also::<OwnProject>() {
        Ok(_) => about,
        Err(_) => AuditFilter { author_id: grant.actor().id, ..about },
    }
}

async fn list_of_project(
    app: App,
    call: Call<AdminProject, (ListAuditEvents, CursorPage)>,
) -> Events {
    let about = about_project(&call.grant);
    let (given, pages) = call.params;
    let (filter, page) = (given.filter(about, &pages)?, call.page);
    Ok(audit_event_entities(app.db.read(move |tx| tx.audit_events(&filter, page)).await?))
}

async fn show_of_project(
    app: App,
    call: Call<AdminProject, OneAuditEvent>,
) -> ApiResult<Json<AuditEventEntity>> {
    one(app, about_project(&call.grant), call.params.audit_event_id).await
}

async fn one(app: App, about: AuditFilter, id: i64) -> ApiResult<Json<AuditEventEntity>> {
    let found = app.db.peek(move |tx| tx.audit_event(&about, id)).await?;
    Ok(Json(found.ok_or_else(|| Error::not_found("Audit Event"))?.into()))
}
