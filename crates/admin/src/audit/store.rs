//! Audit events in the database.

use db::{CountOf, OneOf as _, Tx, each_backend, error, schema::audit_events as events};
use diesel::prelude::*;
use kernel::{
    Result,
    ids::UserId,
    page::{COUNT_LIMIT, Page, PageRequest, Total},
};

use super::{AuditEvent, AuditFilter, Entity, NewAuditEvent};

const NOUN: &str = "Audit Event";

pub trait AuditStore {
    fn insert_audit_event(&mut self, new: &NewAuditEvent) -> Result<()>;
    /// The newest first.
    fn audit_events(&mut self, filter: &AuditFilter, page: PageRequest)
    -> Result<Page<AuditEvent>>;
    fn audit_event(&mut self, filter: &AuditFilter, id: i64) -> Result<Option<AuditEvent>>;
    /// Whose doing the newest of these events about an entity is.
    fn latest_author(&mut self, entity: Entity, event_names: &[&str]) -> Result<Option<UserId>>;
}

macro_rules! chosen {
    ($filter:expr) => {{
        let filter: &AuditFilter = $filter;
        let mut rows = events::table.into_boxed();
        if let Some(entity_type) = &filter.entity_type {
            rows = rows.filter(events::entity_type.eq(entity_type.clone()));
        }
        if let Some(id) = filter.entity_id {
            rows = rows.filter(events::entity_id.eq(id));
        }
        if let Some(author) = filter.author_id {
            rows = rows.filter(events::author_id.eq(author.0));
        }
        if let Some(after) = filter.created_after {
            rows = rows.filter(events::created_at.ge(after));
        }
        if let Some(before) = filter.created_before {
            rows = rows.filter(events::created_at.le(before));
        }
        if let Some(id) = filter.id_before {
            rows = rows.filter(events::id.lt(id));
        }
        rows
    }};
}

impl AuditStore for Tx<'_> {
    fn insert_audit_event(&mut self, new: &NewAuditEvent) -> Result<()> {
        let details = serde_json::Value::Object(new.details.clone()).to_string();
        let row = (
            events::author_id.eq(new.author_id.map(|id| id.0)),
            events::author_name.eq(&new.author_name),
            events::entity_type.eq(new.entity.type_name()),
            events::entity_id.eq(new.entity.id()),
            events::entity_path.eq(&new.entity_path),
            events::event_name.eq(new.event_name),
            events::details.eq(details),
            events::created_at.eq(self.now),
        );
        let insert = diesel::insert_into(events::table).values(row);
        each_backend!(self, |conn| insert.execute(conn).map_err(error(NOUN)))?;
        Ok(())
    }

    fn audit_events(
        &mut self,
        filter: &AuditFilter,
        page: PageRequest,
    ) -> Result<Page<AuditEvent>> {
        if filter.id_before.is_some() {
            return page_before(self, filter, page);
        }
        let items: Vec<AuditEvent> = each_backend!(self, |conn| chosen!(filter)
            .order(events::id.desc())
            .limit(page.per_page)
            .offset(page.offset())
            .select(AuditEvent::as_select())
            .load(conn)
            .map_err(error(NOUN)))?;
        let total = each_backend!(self, |conn| {
            let count = CountOf(chosen!(filter).select(events::id).limit(COUNT_LIMIT + 1));
            count.get_result(conn).map_err(error(NOUN))
        })?;
        Ok(Page { items, total: Total::Counted(total) })
    }

    fn audit_event(&mut self, filter: &AuditFilter, id: i64) -> Result<Option<AuditEvent>> {
        each_backend!(self, |conn| chosen!(filter)
            .filter(events::id.eq(id))
            .select(AuditEvent::as_select())
            .first(conn)
            .optional()
            .map_err(error(NOUN)))
    }

    fn latest_author(&mut self, entity: Entity, event_names: &[&str]) -> Result<Option<UserId>> {
        let newest = events::table
            .filter(events::entity_type.eq(entity.type_name()))
            .filter(events::entity_id.eq(entity.id()))
            .filter(events::event_name.one_of(event_names))
            .order(events::id.desc())
            .limit(1)
            .select(events::author_id);
        let author: Option<Option<UserId>> =
            each_backend!(self, |conn| newest.first(conn).optional().map_err(error(NOUN)))?;
        Ok(author.flatten())
    }
}

/// A page after a known row, which is not counted.
fn page_before(
    tx: &mut Tx<'_>,
    filter: &AuditFilter,
    page: PageRequest,
) -> Result<Page<AuditEvent>> {
    let mut items: Vec<AuditEvent> = each_backend!(tx, |conn| chosen!(filter)
        .order(events::id.desc())
        .limit(page.per_page + 1)
        .select(AuditEvent::as_select())
        .load(conn)
        .map_err(error(NOUN)))?;
    let wanted = usize::try_from(page.per_page).unwrap_or(usize::MAX);
    let more = items.len() > wanted;
    items.truncate(wanted);
    Ok(Page { items, total: Total::Uncounted { more } })
}
