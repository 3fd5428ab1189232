//! Audit events in the database.

use db::{CountOf, Tx, each_backend, error, schema::audit_events as events};
use diesel::prelude::*;
use kernel::{
    Result, Ts,
    ids::UserId,
    page::{COUNT_LIMIT, Page, PageRequest, Total},
};

use super::{AuditEvent, AuditFilter, NewAuditEvent};

const NOUN: &str = "Audit Event";
/// Rows of one statement: each has 8 values, and a statement of SQLite takes 32,766.
const ROWS_AT_ONCE: usize = 1_000;

pub trait AuditStore {
    fn insert_audit_event(&mut self, new: &NewAuditEvent) -> Result<()>;
    /// As [`insert_audit_event`](Self::insert_audit_event), of many by a few statements.
    fn insert_audit_events(&mut self, new: &[NewAuditEvent]) -> Result<()>;
    /// The newest first.
    fn audit_events(&mut self, filter: &AuditFilter, page: PageRequest)
    -> Result<Page<AuditEvent>>;
    fn audit_event(&mut self, filter: &AuditFilter, id: i64) -> Result<Option<AuditEvent>>;
}

// Rows with a default among their values would be inserted one by one on SQLite.
#[derive(Insertable)]
#[diesel(table_name = events, treat_none_as_default_value = false)]
struct NewRow<'e> {
    author_id: Option<UserId>,
    author_name: &'e str,
    entity_type: &'static str,
    entity_id: i64,
    entity_path: &'e str,
    event_name: &'static str,
    details: String,
    created_at: Ts,
}

impl<'e> NewRow<'e> {
    fn of(new: &'e NewAuditEvent, now: Ts) -> Self {
        Self {
            author_id: new.author_id,
            author_name: &new.author_name,
            entity_type: new.entity.type_name(),
            entity_id: new.entity.id(),
            entity_path: &new.entity_path,
            event_name: new.event_name,
            details: serde_json::Value::Object(new.details.clone()).to_string(),
            created_at: now,
        }
    }
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
            rows = rows.filter(events::created_at.le(before.end_of_shown()));
        }
        if let Some(id) = filter.id_before {
            rows = rows.filter(events::id.lt(id));
        }
        rows
    }};
}

impl AuditStore for Tx<'_> {
    fn insert_audit_event(&mut self, new: &NewAuditEvent) -> Result<()> {
        let row = NewRow::of(new, self.now);
        let insert = diesel::insert_into(events::table).values(row);
        each_backend!(self, |conn| insert.execute(conn).map_err(error(NOUN)))?;
        Ok(())
    }

    fn insert_audit_events(&mut self, new: &[NewAuditEvent]) -> Result<()> {
        for some in new.chunks(ROWS_AT_ONCE) {
            let rows: Vec<NewRow<'_>> = some.iter().map(|one| NewRow::of(one, self.now)).collect();
            let insert = diesel::insert_into(events::table).values(&rows);
            each_backend!(self, |conn| insert.execute(conn).map_err(error(NOUN)))?;
        }
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
